"""`compare`: two or more sides become one `Comparison` with changes and verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from launchlens.catalogue import metrics
from launchlens.comparison.differences import find_differences, reader_notes, reader_remarks
from launchlens.comparison.figures import figure_of
from launchlens.comparison.kernels import kernel_changes
from launchlens.comparison.processes import IN_DOUBT, is_in_doubt
from launchlens.comparison.rows import mark_failed, metric_row
from launchlens.comparison.sides import (
    Groups,
    distinct_labels,
    pair_groups,
    short_labels,
    untraced_phases,
)
from launchlens.errors import UsageError
from launchlens.records.comparison import Comparison, PhaseComparison, Row, Side, SideInput
from launchlens.records.figures import Group, Phase
from launchlens.records.variant import VariantFacts


def compare(sides: Sequence[SideInput], *, title: str | None = None) -> Comparison:
    """Compare a baseline (the first side) with candidates, under a title for headings.

    Each phase and each pair of (process, device) groups gives one `PhaseComparison`. A side without
    analysis (a variant that failed) has unknown figures.

    Raises:
        UsageError: fewer than two sides.
    """
    if len(sides) < 2:
        raise UsageError(
            "a comparison needs a baseline and at least one candidate.",
            hint="Name two traces or runs.",
        )
    return tabulate(sides, title=title)


def tabulate(sides: Sequence[SideInput], *, title: str | None = None) -> Comparison:
    """The same for one side too, which has figures and nothing they could differ from."""
    labels = distinct_labels(sides)
    shorts = short_labels(labels)
    pairs = pair_groups(sides)
    phases = tuple(
        _phase(sides, shorts, groups, phase)
        for groups in pairs
        for phase in ([None] if any(groups) else untraced_phases(sides))
    )
    firsts = [next((g for g in own if g is not None), None) for own in zip(*pairs, strict=True)]
    baseline, *candidates = (
        replace(_side(*one), facts=_comparable(one[0].facts, sides[0].facts))
        for one in zip(sides, labels, shorts, firsts, strict=True)
    )
    return Comparison(
        schema="launchlens.comparison/1",
        baseline=baseline,
        candidates=tuple(candidates),
        phases=phases,
        differences=tuple(find_differences(sides, pairs)),
        notes=tuple(reader_notes(sides, labels, pairs)),
        remarks=tuple(reader_remarks(sides, labels)),
        title=title,
    )


def _comparable(facts: VariantFacts, baseline: VariantFacts) -> VariantFacts:
    """Facts without outputs that were compared with another side than this baseline."""
    known = [
        e
        for e in facts.equivalence
        if e.beside is None or (e.beside == baseline.variant and facts.command == baseline.command)
    ]
    return replace(facts, equivalence=tuple(known))


def _side(side: SideInput, label: str, short: str, group: Group | None) -> Side:
    """A side as reported, with the tables of its first group."""
    return Side(
        label=label,
        short=short,
        trace=side.analysis.trace if side.analysis else None,
        timing_trace=side.timing.trace if side.timing else None,
        facts=side.facts,
        findings=side.findings,
        losses=side.analysis.losses if side.analysis else (),
        blockers_unseen=side.blockers_unseen,
        captured=_is_captured(side),
        reference=side.reference,
        gap_histogram=group.gap_histogram if group else (),
        kernels=group.kernels if group else (),
        api_calls=group.api_calls if group else (),
        gap_followers=group.gap_followers if group else (),
    )


def _is_captured(side: SideInput) -> bool | None:
    """Whether steps launch graphs; of a variant without a trace what it says of itself."""
    if side.analysis is None:
        return None if side.facts.failure else side.facts.captures
    tracing = {group.graph_tracing for group in side.analysis.summary}
    return bool(tracing - {None, "none"})


def _phase(
    sides: Sequence[SideInput], shorts: Sequence[str], groups: Groups, untraced: Phase | None
) -> PhaseComparison:
    """One phase's rows; without any trace those of the phase that was timed ``untraced``."""
    phase: Phase = next((g.phase for g in groups if g), untraced or "unknown")
    rows = []
    for metric in (m for m in metrics() if m.owner != "request"):
        stats = [
            figure_of(side, group, phase, metric) for side, group in zip(sides, groups, strict=True)
        ]
        if metric.whole_graph and all(source != "graph trace" for _, source in stats):
            continue  # no side was traced both ways
        if any(stat is not None for stat, _ in stats):
            row = mark_failed(metric_row(metric, stats, groups), sides)
            if metric.untraced:
                row = _with_doubt(row, sides, groups)
            rows.append(row)
    return PhaseComparison(
        phase=phase,
        groups=tuple(map(_place, groups)),
        steps=tuple(g.steps if g else 0 for g in groups),
        dropped=tuple(g.dropped if g else 0 for g in groups),
        rows=tuple(rows),
        kernels=tuple(
            kernel_changes(groups[0], group, short)
            for group, short in zip(groups[1:], shorts[1:], strict=True)
        ),
        bound=tuple(g.bound if g else None for g in groups),
    )


def _with_doubt(row: Row, sides: Sequence[SideInput], groups: Groups) -> Row:
    """Untraced changes that one process on a side cannot show prove nothing."""
    cells = [
        replace(cell, verdict="inconclusive", note=cell.note or IN_DOUBT)
        if index
        and cell.verdict in ("better", "worse", "same")
        and is_in_doubt(sides[0], sides[index], groups[0], groups[index])
        else cell
        for index, cell in enumerate(row.cells)
    ]
    return replace(row, cells=tuple(cells))


def _place(group: Group | None) -> str:
    if group is None:
        return "-"
    device = "unknown" if group.device is None else group.device
    return f"process {group.pid}, device {device}"
