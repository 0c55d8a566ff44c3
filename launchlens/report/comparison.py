"""A comparison as a document: figures of each phase, what stands in the way, where time goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from launchlens.catalogue import by_name, tiles
from launchlens.records.comparison import Cell, Comparison, PhaseComparison
from launchlens.records.comparison import Row as MetricRow
from launchlens.records.timeline import Timeline
from launchlens.report import charts
from launchlens.report.document import (
    Block,
    Chart,
    Column,
    Document,
    Judged,
    Prominence,
    Row,
    Section,
    Table,
    Text,
    Value,
)
from launchlens.report.findings import describe_equivalence, side_findings
from launchlens.report.group_charts import modules
from launchlens.report.provenance import comparison_provenance, machine_words
from launchlens.report.sentences import comparison_sentences, phase_title, value_of
from launchlens.report.tables import follower_table, gap_table, kernel_changes
from launchlens.report.timelines import timeline_section
from launchlens.report.words import IDLE_BASIS, joined, plain, step_words

_MOST_TILES = 4


def comparison_document(comparison: Comparison, timelines: Sequence[Timeline] = ()) -> Document:
    """A baseline beside its candidates.

    Args:
        comparison: the record; every number of the report is one of its numbers.
        timelines: one step of each side, drawn on a common time axis.
    """
    names = tuple(side.short for side in comparison.sides)
    candidates = ", ".join(names[1:])
    models = {side.facts.model for side in comparison.sides if side.facts.model}
    arrow = f" → {candidates}" if candidates else ""
    return Document(
        kind="comparison",
        title=comparison.title or f"launchlens: {names[0]}{arrow}",
        subject=comparison.title or " vs ".join(sorted(models)),
        answers=comparison_sentences(comparison),
        sides=names,
        tiles=_tiles(comparison),
        differences=tuple((d.what, d.values) for d in comparison.differences if d.serious),
        cautions=comparison.notes,
        sections=tuple(_sections(comparison, timelines)),
        provenance=comparison_provenance(comparison),
        footer=_footer(comparison) if comparison.phases else (),
        basis=IDLE_BASIS,
        record=comparison,
        data=lambda: comparison_rows(comparison),
    )


def comparison_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """A row for each phase, metric and side, with changes and verdicts."""
    for phase in comparison.phases:
        for row in phase.rows:
            for place, (side, cell) in enumerate(zip(comparison.sides, row.cells, strict=True)):
                figures = asdict(cell)
                yield {
                    "phase": phase.phase,
                    "group": phase.groups[place],
                    "metric": row.metric,
                    "title": row.title,
                    "unit": row.unit,
                    "side": side.label,
                    "is_baseline": place == 0,
                    **{name: figures[name] for name in _CELL},
                    "note": cell.note or (f"{cell.bound} bound" if cell.bound else None),
                    "threshold": row.threshold,
                    "direction": row.direction,
                }


_CELL = (
    "value",
    "ci_low",
    "ci_high",
    "n",
    "change",
    "relative",
    "verdict",
    "source",
)


def _sections(comparison: Comparison, timelines: Sequence[Timeline]) -> Iterator[Section]:
    for i, phase in enumerate(comparison.phases):
        yield _figures(comparison, phase, i)
    if requests := _requests(comparison):
        yield requests
    if outputs := _outputs(comparison):
        yield Section("outputs", "Outputs", (outputs,))
    # Before the charts, since a failed variant is why figures above are unknown.
    if blockers := side_findings(comparison.sides):
        yield blockers
    if timelines:
        yield timeline_section(timelines, comparison.sides)
    for i, phase in enumerate(comparison.phases):
        yield from _times(comparison, phase, i)
    gaps: list[Block] = [*charts.gap_lengths(comparison), *_gap_tables(comparison)]
    if gaps:
        yield Section("gaps", "How long the gaps are", tuple(gaps))
    counts = _present(charts.api_calls(comparison), charts.kernels(comparison), modules(timelines))
    if counts:
        yield Section("launches", "Launches and kernels", counts)


def _figures(comparison: Comparison, phase: PhaseComparison, index: int) -> Section:
    names = [side.short for side in comparison.sides]
    used = ", ".join(f"{n} of {name}" for n, name in zip(phase.steps, names, strict=True))
    caption = (
        f"{phase.phase.capitalize()} steps used: {used}. Medians; the 95% interval below. "
        f"{IDLE_BASIS}"
    )
    if any(phase.dropped):
        dropped = ", ".join(f"{n} of {name}" for n, name in zip(phase.dropped, names, strict=True))
        caption += f" Dropped at the start: {dropped}."
    table = Table(
        title=phase_title(comparison, phase),
        columns=(Column("metric", "text"), *(Column(name) for name in names)),
        rows=tuple(_metric_rows(phase)),
        caption=caption,
        form="sides",
        lead=f"Per {step_words(phase.phase)}, medians over "
        f"{joined([str(n) for n in phase.steps])} steps:",
    )
    bound = [f"{name} is {b}" for name, b in zip(names, phase.bound, strict=True) if b]
    blocks: tuple[Block, ...] = (table, *(kernel_changes(changes) for changes in phase.kernels))
    if bound:
        said = "By the causes of their gaps: " + ", ".join(bound) + "."
        blocks = (Text((said,), prominence="page"), *blocks)
    return Section(f"figures-{index}", f"Figures of a {_step_words(comparison, phase)}", blocks)


def _metric_rows(phase: PhaseComparison) -> Iterator[Row]:
    """Where no window is known (nothing ran on a GPU) the range on the CPU stands in for it."""
    saying = {r.metric for r in phase.rows if any(cell.value not in (0, None) for cell in r.cells)}
    main = {r.metric for r in phase.rows if r.headline and r.metric in saying}
    main.add(tiles()[0].name)
    if "window_ns" not in main:
        main.add("cpu_ns")
    for row in phase.rows:
        shown: Prominence = (
            "main" if row.metric in main else "more" if row.metric in saying else "page"
        )
        cells = tuple(judged(row, cell) for cell in row.cells)
        yield Row((row.title, *cells), row.note, shown)


def judged(row: MetricRow, cell: Cell) -> Judged:
    """A side's figure with its change, as a cell of a document."""
    return Judged(
        value_of(row, cell), cell.change, cell.relative, cell.verdict, cell.source, cell.note
    )


def _tiles(comparison: Comparison) -> tuple[tuple[str, tuple[tuple[str, Value], ...]], ...]:
    """The figures people quote; of the first phase, where they are known at all."""
    if not comparison.phases:
        return ()
    known = {
        row.metric: row
        for row in comparison.phases[0].rows
        if any(cell.value is not None for cell in row.cells)
    }
    chosen = [known[m.name] for m in tiles() if m.name in known][:_MOST_TILES]
    return tuple(
        (
            row.title,
            tuple(
                (side.short, value_of(row, cell))
                for side, cell in zip(comparison.sides, row.cells, strict=True)
            ),
        )
        for row in chosen
    )


def _step_words(comparison: Comparison, phase: PhaseComparison) -> str:
    """The phase and "step", with process and device where several groups share the phase."""
    words = step_words(phase.phase)
    if sum(other.phase == phase.phase for other in comparison.phases) == 1:
        return words
    return f"{words} ({' / '.join(dict.fromkeys(phase.groups))})"


def _requests(comparison: Comparison) -> Section | None:
    """TTFT, ITL, latency and throughput by concurrency, if measured."""
    metrics = [m for m in by_name().values() if m.owner == "request"]
    measured = [(side.short, r) for side in comparison.sides for r in side.facts.requests]
    if not measured:
        return None
    rows = tuple(
        Row(
            (
                str(r.concurrency),
                name,
                *(Value(getattr(r, metric.name), metric.unit) for metric in metrics),
            )
        )
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


def _times(comparison: Comparison, phase: PhaseComparison, index: int) -> Iterator[Section]:
    words = _step_words(comparison, phase)
    if idle := charts.idle_by_cause(comparison, phase, index):
        yield Section(f"causes-{index}", f"Idle time by cause, {words}", (idle,))
    pair = _present(
        charts.step_times(comparison, phase, index),
        charts.idle_fractions(comparison, phase, index),
    )
    if pair:
        yield Section(f"untraced-{index}", f"With and without the profiler, {words}", pair)


def _gap_tables(comparison: Comparison) -> Iterator[Table]:
    sides = [side for side in comparison.sides if side.gap_histogram]
    if sides:
        yield gap_table([(f"{s.short}: ", s.gap_histogram) for s in sides], "more")
    for side in comparison.sides:
        if side.gap_followers:
            title = f"Idle after, {side.short}"
            yield replace(follower_table(side.gap_followers, title), prominence="more")


def _present(*found: Chart | None) -> tuple[Chart, ...]:
    return tuple(chart for chart in found if chart)


def _footer(comparison: Comparison) -> tuple[str, ...]:
    """Over how many steps the medians are, what idle means, and on which machine."""
    phase = comparison.phases[0]
    ran = [n for n, side in zip(phase.steps, comparison.sides, strict=True) if n or side.trace]
    steps = joined([str(n) for n in ran] or ["0"])
    untraced = [cell for r in phase.rows if r.metric == "untraced_ns" for cell in r.cells]
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
    return (
        f"Medians over {steps} steps{within}{left_out}.",
        IDLE_BASIS,
        machine_words(comparison),
    )


def _joined(numbers: Iterable[int]) -> str:
    return joined([str(number) for number in numbers])
