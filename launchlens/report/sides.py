"""Figures of several sides beside one another: the table of a phase, and the key figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from launchlens.catalogue import by_name, metrics, of_role, tiles
from launchlens.records.comparison import Comparison, PhaseComparison
from launchlens.records.comparison import Row as MetricRow
from launchlens.records.metric import ROLES
from launchlens.report.document import Block, Column, Prominence, Row, Section, Table, Text, Tile
from launchlens.report.kernel_changes import kernel_changes
from launchlens.report.phases import compared_phases
from launchlens.report.ranking import ranked
from launchlens.report.side_cells import judged, phase_title, phase_words
from launchlens.report.words import IDLE_BASIS, bound_words, joined, step_words

_MOST_TILES = 4
_MOST_BRIEF = 5


def figures_section(
    comparison: Comparison,
    phase: PhaseComparison,
    index: int,
    short: Mapping[str, str],
    *,
    sort: str | None = None,
    only: Sequence[str] = (),
) -> Section:
    """A phase's metrics with their changes and verdicts, and the kernels that differ.

    ``sort``: the metric that the sides are ordered by, instead of their step; ``only``: the metrics
    that are shown.
    """
    names = [side.short for side in comparison.sides]
    used = ", ".join(f"{n} of {name}" for n, name in zip(phase.steps, names, strict=True))
    caption = f"{phase.phase.capitalize()} steps used: {used}. Medians. {IDLE_BASIS}"
    if any(phase.dropped):
        dropped = ", ".join(f"{n} of {name}" for n, name in zip(phase.dropped, names, strict=True))
        caption += f" Dropped at the start: {dropped}."
    table = Table(
        title=phase_title(comparison, phase),
        columns=(Column("metric", "text"), *(Column(name) for name in names)),
        rows=tuple(_metric_rows(phase, only)),
        caption=caption,
        form="sides",
        lead=f"Per {step_words(phase.phase)}, medians over "
        f"{joined([str(n) for n in phase.steps])} steps:",
        order=(0, *(i for i in ranked(comparison, phase, sort) if i)),
    )
    bound = [f"{name} is {bound_words(b)}" for name, b in zip(names, phase.bound, strict=True) if b]
    blocks: tuple[Block, ...] = (
        table,
        *(kernel_changes(changes, short, brief=len(names) > 2) for changes in phase.kernels),
    )
    if bound:
        said = "By the causes of their gaps: " + ", ".join(bound) + "."
        blocks = (Text((said,), prominence="page"), *blocks)
    return Section(f"figures-{index}", f"Figures of a {phase_words(comparison, phase)}", blocks)


def restricted(comparison: Comparison, only: Sequence[str]) -> Comparison:
    """The comparison with these metrics alone, in this order; none named: as it is."""
    if not only:
        return comparison
    phases = tuple(replace(phase, rows=_chosen(phase, only)) for phase in comparison.phases)
    return replace(comparison, phases=phases)


def _chosen(phase: PhaseComparison, only: Sequence[str]) -> tuple[MetricRow, ...]:
    rows = {row.metric: row for row in phase.rows}
    return tuple(rows[name] for name in only if name in rows)


def _metric_rows(phase: PhaseComparison, only: Sequence[str]) -> Iterator[Row]:
    """A phase's rows, of which those of the headline that say something stand in every report.

    Where no time of a step is known (nothing ran on a GPU) the range on the CPU stands in for it.
    """
    if only:
        for place, row in enumerate(_chosen(phase, only)):
            yield _row(row, "main", place)
        return
    saying = {r.metric for r in phase.rows if any(cell.value not in (0, None) for cell in r.cells)}
    main = {r.metric for r in phase.rows if r.headline and r.metric in saying}
    main.add(tiles()[0].name)
    steps = [metric.name for metric in of_role("step") if metric.name in saying]
    main.update(steps[:1])
    if not any(by_name()[name].untraced for name in steps):
        main.update(metric.name for metric in metrics() if metric.whole_graph)
    brief = _brief(saying)
    for row in phase.rows:
        shown: Prominence = (
            "main" if row.metric in main else "more" if row.metric in saying else "page"
        )
        yield _row(row, shown, brief.get(row.metric))


def _row(row: MetricRow, shown: Prominence, brief: int | None) -> Row:
    cells = tuple(judged(row, cell) for cell in row.cells)
    return Row((row.title, *cells), row.note, shown, brief)


def _brief(saying: set[str]) -> dict[str, int]:
    """The places of the metrics that a short table has: one of each role, like beside like.

    Idle that untraced times correct stands beside these times only.
    """
    untraced = any(metric.name in saying for metric in of_role("step") if metric.untraced)
    chosen = []
    for role in ROLES:
        known = [metric for metric in of_role(role) if metric.name in saying]
        alike = [metric for metric in known if metric.untraced is untraced]
        chosen += [metric.name for metric in (alike or known)[:1]]
    return {name: place for place, name in enumerate(chosen[:_MOST_BRIEF])}


def key_figures(comparison: Comparison) -> tuple[Tile, ...]:
    """The figures people quote; of the first phase, where they are known at all."""
    for phase in (*compared_phases(comparison), *comparison.phases)[:1]:
        known = {
            row.metric: row
            for row in phase.rows
            if any(cell.value is not None for cell in row.cells)
        }
        chosen = [known[m.name] for m in tiles() if m.name in known][:_MOST_TILES]
        names = [side.short for side in comparison.sides]
        return tuple(
            (row.title, tuple(zip(names, (judged(row, cell) for cell in row.cells), strict=True)))
            for row in chosen
        )
    return ()
