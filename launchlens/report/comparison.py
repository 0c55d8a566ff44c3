"""A comparison as a document: figures of each phase, what stands in the way, where time goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from launchlens.catalogue import by_name, of_role
from launchlens.kernel_names import short_names
from launchlens.records.comparison import Comparison, Side
from launchlens.records.timeline import Timeline
from launchlens.report import charts
from launchlens.report.about import about_comparison
from launchlens.report.benchmarks import benchmark_section
from launchlens.report.cells import Value
from launchlens.report.comparison_checks import comparison_warnings, same_traces
from launchlens.report.comparison_first import comparison_sentences
from launchlens.report.comparison_title import verdict_title
from launchlens.report.data import comparison_rows
from launchlens.report.document import Block, Column, Document, Row, Section, Table, Text
from launchlens.report.findings import describe_equivalence, side_findings
from launchlens.report.group_charts import modules
from launchlens.report.phases import compared_phases
from launchlens.report.pictures import Chart
from launchlens.report.provenance import comparison_provenance, machine_words
from launchlens.report.ranking import fastest, is_wrong
from launchlens.report.sides import figures_section, key_figures, restricted
from launchlens.report.tables import follower_table, gap_table, name_facts
from launchlens.report.timelines import timeline_section
from launchlens.report.words import IDLE_BASIS, joined, plain


def comparison_document(
    comparison: Comparison,
    timelines: Sequence[Timeline] = (),
    *,
    sort: str | None = None,
    only: Sequence[str] = (),
) -> Document:
    """A baseline beside its candidates; every number of the report is one of the record's.

    Args:
        comparison: what is reported.
        timelines: a step of each side, for formats that draw.
        sort: the metric that several candidates are ordered by, instead of the time of the step.
        only: the metrics that tables and data hold, in this order; none: all.
    """
    names = tuple(side.short for side in comparison.sides)
    candidates = ", ".join(names[1:])
    models = {side.facts.model for side in comparison.sides if side.facts.model}
    arrow = f" → {candidates}" if candidates else ""
    return Document(
        kind="comparison",
        title=comparison.title or f"launchlens: {names[0]}{arrow}",
        subject=comparison.title or " vs ".join(sorted(models)),
        answers=same_traces(comparison) or comparison_sentences(comparison),
        verdict=verdict_title(comparison),
        warnings=comparison_warnings(comparison),
        sides=names,
        about=about_comparison(comparison),
        fastest=fastest(comparison),
        tiles=key_figures(comparison),
        differences=tuple((d.what, d.values) for d in comparison.differences if d.serious),
        cautions=comparison.notes,
        remarks=comparison.remarks,
        sections=tuple(_sections(comparison, timelines, sort, only)),
        provenance=comparison_provenance(comparison),
        footer=_footer(comparison) if comparison.phases else (),
        basis=IDLE_BASIS,
        record=restricted(comparison, only),
        data=lambda: comparison_rows(restricted(comparison, only)),
    )


def _sections(
    comparison: Comparison, timelines: Sequence[Timeline], sort: str | None, only: Sequence[str]
) -> Iterator[Section]:
    short = short_names(_kernel_names(comparison))
    phases = compared_phases(comparison)
    for i, phase in enumerate(phases):
        if idle := charts.idle_by_cause(comparison, phase, i):
            yield Section(f"causes-{i}", idle.title, (idle,), glance=i == 0)
        if timelines and i == 0:
            yield timeline_section(timelines, comparison.sides)
        yield figures_section(comparison, phase, i, short, sort=sort, only=only)
    if timelines and not phases:
        yield timeline_section(timelines, comparison.sides)
    if requests := _requests(comparison):
        yield requests
    if benchmarks := benchmark_section(comparison):
        yield benchmarks
    if outputs := _outputs(comparison):
        yield Section("outputs", "Outputs", (outputs,))
    # Before the charts, since a failed variant is why figures above are unknown.
    if blockers := side_findings(*_told_apart(comparison)):
        yield blockers
    best = fastest(comparison) or 1
    if best < len(comparison.sides) and (changed := charts.kernel_changes(comparison, best, short)):
        yield Section("changes", "What changed on the GPU", (changed,))
    gaps: list[Block] = [*charts.gap_lengths(comparison), *_gap_tables(comparison, short)]
    if gaps:
        yield Section("gaps", "How long the gaps are", tuple(gaps))
    counts = _present(charts.api_calls(comparison), modules(timelines))
    if counts:
        yield Section("launches", "Launches and kernels", counts)
    differing = {d.name for phase in comparison.phases for k in phase.kernels for d in k.all_diffs}
    followed = {f.name for side in comparison.sides for f in side.gap_followers}
    if names := name_facts(differing | followed, short):
        yield Section("kernel-names", "Kernel names in full", (names,), folds=True)


def _kernel_names(comparison: Comparison) -> Iterator[str]:
    """Every kernel that the report may name."""
    for side in comparison.sides:
        yield from (kernel.name for kernel in side.kernels)
        yield from (follower.name for follower in side.gap_followers)
    for phase in comparison.phases:
        yield from (diff.name for changes in phase.kernels for diff in changes.all_diffs)


def _told_apart(comparison: Comparison) -> tuple[tuple[Side, ...], tuple[Side, ...]]:
    """The sides with findings that matter, and those that a capture went past.

    What is only suspected of steps that were not captured does not stand beside a variant that was.
    """
    sides = comparison.sides
    captured = any(s.captured and not s.facts.failure and not is_wrong(s) for s in sides)
    shown, passed = [], []
    for side in sides:
        kept = side.findings
        if captured and not side.captured:
            kept = tuple(f for f in side.findings if f.confidence == "confirmed")
            others = tuple(f for f in side.findings if f.confidence != "confirmed")
            passed += [replace(side, findings=others)] if others else []
        shown.append(replace(side, findings=kept))
    return tuple(shown), tuple(passed)


def _requests(comparison: Comparison) -> Section | None:
    """TTFT, ITL, latency and throughput by concurrency, if measured."""
    metrics = [m for m in by_name().values() if m.owner == "request"]
    measured = [(side.short, r) for side in comparison.sides for r in side.facts.requests]
    if not measured:
        return None
    rows = tuple(
        Row((str(r.concurrency), name, *(Value(getattr(r, m.name), m.unit) for m in metrics)))
        for name, r in sorted(measured, key=lambda one: one[1].concurrency)
    )
    first = measured[0][1]
    table = Table(
        f"Requests, untraced (ISL {first.isl}, OSL {first.osl})",
        (
            *(Column(title, "text") for title in ("concurrency", "variant")),
            *(Column(metric.title) for metric in metrics),
        ),
        rows,
        caption="Request-level figures, untraced: medians over repetitions.",
        names=2,
        whole=True,
    )
    return Section("requests", "Request level", (*charts.requests(comparison), table))


def _outputs(comparison: Comparison) -> Text | None:
    lines = tuple(
        f"{plain(side.short)}: {describe_equivalence(e)}"
        for side in comparison.candidates
        for e in side.facts.equivalence
    )
    return Text(lines, "list", title="Outputs beside the baseline's") if lines else None


def _gap_tables(comparison: Comparison, short: Mapping[str, str]) -> Iterator[Table]:
    sides = list(zip(comparison.sides, charts.steps_of(comparison), strict=True))
    if known := [(f"{s.short}: ", s.gap_histogram, n) for s, n in sides if s.gap_histogram]:
        yield gap_table(known, "more")
    for side, steps in sides:
        if side.gap_followers:
            title = f"Idle after, {side.short}"
            yield replace(
                follower_table(side.gap_followers, steps, short, title), prominence="more"
            )


def _present(*found: Chart | None) -> tuple[Chart, ...]:
    return tuple(chart for chart in found if chart)


def _footer(comparison: Comparison) -> tuple[str, ...]:
    """Over how many steps the medians are, what idle means, and on which machine."""
    phase = (*compared_phases(comparison), *comparison.phases)[0]
    ran = [n for n, side in zip(phase.steps, comparison.sides, strict=True) if n or side.trace]
    steps = joined([str(n) for n in ran] or ["0"])
    (untraced_step,) = (metric.name for metric in of_role("step") if metric.untraced)
    untraced = [cell for r in phase.rows if r.metric == untraced_step for cell in r.cells]
    timed = [cell.n for cell in untraced if cell.value is not None]
    within = ""
    if timed:
        steps += f" traced and {_joined(timed)} untraced"
        counts = [
            max(len(u.processes_ns) or 1 for u in side.facts.untraced)
            for side in comparison.sides
            if side.facts.untraced
        ]
        within = f" in {_joined(counts)} processes" if max(counts, default=1) > 1 else ""
    left_out = f", {_joined(phase.dropped)} dropped" if any(phase.dropped) else ""
    return (f"Medians over {steps} steps{within}{left_out}.", IDLE_BASIS, machine_words(comparison))


def _joined(numbers: Iterable[int]) -> str:
    return joined([str(number) for number in numbers])
