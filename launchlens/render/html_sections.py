"""The sections of a comparison's page, in reading order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from launchlens.records.comparison import Comparison, Difference, PhaseComparison, Row, Side
from launchlens.records.figures import TraceInfo
from launchlens.records.timeline import Timeline
from launchlens.render import html_charts as charts
from launchlens.render.format import IDLE_BASIS, format_cell, format_value
from launchlens.render.html_blockers import blockers_section
from launchlens.render.html_figures import capitalized, shorten
from launchlens.render.html_modules import module_chart
from launchlens.render.html_page import (
    FactsView,
    FigureView,
    SectionView,
    Tile,
    TileValue,
)
from launchlens.render.html_tables import (
    kernel_change_table,
    metric_table,
    request_table,
)

_TILES = ("launches", "idle", "untraced_ns", "window_ns", "idle_corrected", "sync_calls")


def headline_tiles(comparison: Comparison) -> tuple[Tile, ...]:
    """The four figures people quote, large; of the first phase, where they are known at all."""
    if not comparison.phases:
        return ()
    known = {
        row.metric: row
        for row in comparison.phases[0].rows
        if any(cell.value is not None for cell in row.cells)
    }
    rows = [known[metric] for metric in _TILES if metric in known][:4]
    names = [side.short for side in comparison.sides]
    return tuple(
        Tile(
            capitalized(row.title),
            tuple(
                TileValue(name, format_cell(row, cell))
                for name, cell in zip(names, row.cells, strict=True)
            ),
        )
        for row in rows
    )


def comparison_notices(comparison: Comparison) -> tuple[str, ...]:
    """What may make the comparison unfair, and what its notes say."""
    names = [side.short for side in comparison.sides]
    notices = [_difference_text(d, names) for d in comparison.differences if d.serious]
    return (*notices, *comparison.notes)


def comparison_sections(
    comparison: Comparison, timelines: Sequence[Timeline]
) -> tuple[SectionView, ...]:
    """All sections that have something to show."""
    sections = [_metrics(comparison, phase, i) for i, phase in enumerate(comparison.phases)]
    # Here, since a failed variant is why figures above are unknown.
    if blockers := blockers_section(comparison.sides):
        sections.append(blockers)
    if timelines:
        sections.append(timeline_section(timelines, comparison.sides))
    for i, phase in enumerate(comparison.phases):
        sections.extend(_times(comparison, phase, i))
    sections.extend(_optional(comparison, timelines))
    sections.append(_provenance(comparison))
    return tuple(sections)


def _metrics(comparison: Comparison, phase: PhaseComparison, index: int) -> SectionView:
    names = [side.short for side in comparison.sides]
    used = ", ".join(f"{n} of {name}" for n, name in zip(phase.steps, names, strict=True))
    caption = (
        f"{phase.phase.capitalize()} steps used: {used}. Medians; the 95% interval below. "
        f"{IDLE_BASIS}"
    )
    if any(phase.dropped):
        dropped = ", ".join(f"{n} of {name}" for n, name in zip(phase.dropped, names, strict=True))
        caption += f" Dropped at the start: {dropped}."
    headline = [row for row in phase.rows if row.headline and _says_something(row)]
    rest = [row for row in phase.rows if row not in headline]
    tables = [metric_table(comparison, headline, caption)]
    if rest:
        tables.append(
            metric_table(
                comparison,
                rest,
                f"All other figures of {phase.phase} steps",
                f"All other figures ({len(rest)})",
            )
        )
    bound = [f"{name} is {b}" for name, b in zip(names, phase.bound, strict=True) if b]
    paragraphs = ("By the causes of their gaps: " + ", ".join(bound) + ".",) if bound else ()
    title = f"Figures of a {_step_words(comparison, phase)}"
    return SectionView(f"figures-{index}", title, paragraphs, tables=tuple(tables))


def _says_something(row: Row) -> bool:
    return any(cell.value not in (0, None) for cell in row.cells)


def _step_words(comparison: Comparison, phase: PhaseComparison) -> str:
    """The phase and "step", with process and device where several groups share the phase."""
    alike = [other for other in comparison.phases if other.phase == phase.phase]
    words = "step" if phase.phase == "unknown" else f"{phase.phase} step"
    if len(alike) == 1:
        return words
    return f"{words} ({' / '.join(dict.fromkeys(phase.groups))})"


def timeline_section(timelines: Sequence[Timeline], sides: Sequence[Side] = ()) -> SectionView:
    """One step of each side on a common time axis; sides without a timeline are named."""
    drawn = {timeline.side for timeline in timelines}
    absent = [side for side in sides if not drawn & {side.short, side.label}]
    parts = []
    for timeline in timelines:
        lanes = ", ".join(
            f"{format_value(len(lane.spans), 'count')} in {shorten(lane.title, 60)}"
            for lane in timeline.lanes
        )
        window = format_value(timeline.window_ns, "ns")
        parts.append(f"{timeline.side}: {timeline.range}, window {window}, spans: {lanes}")
    said = ["The step whose window is the median one."]
    if len(timelines) > 1:
        said.append("All sides are on the same time axis.")
    silent = [side.short for side in absent if side.trace]
    if silent:
        said.append(f"Not drawn, since the trace does not tell: {', '.join(silent)}.")
    traceless = [side.short for side in absent if not side.trace]
    if traceless:
        said.append(f"Not drawn, since there is no trace: {', '.join(traceless)}.")
    twofold = [side.short for side in sides if side.timing_trace and side not in absent]
    if twofold:
        said.append(
            "Drawn from the node-level trace, while the figures above take times from the "
            f"whole-graph one: {', '.join(twofold)}."
        )
    return SectionView(
        "timelines",
        "Timeline of one step",
        (" ".join(said),),
        timeline="Timeline. " + ". ".join(parts) + ".",
    )


def _times(comparison: Comparison, phase: PhaseComparison, index: int) -> list[SectionView]:
    sections = []
    words = _step_words(comparison, phase)
    idle = charts.idle_chart(comparison, phase, index)
    if idle:
        title = f"Idle time by cause, {words}"
        sections.append(SectionView(f"causes-{index}", title, figures=(idle,)))
    pair = _present(
        charts.time_chart(comparison, phase, index),
        charts.idle_fraction_chart(comparison, phase, index),
    )
    if pair:
        title = f"With and without the profiler, {words}"
        sections.append(SectionView(f"untraced-{index}", title, figures=pair))
    return sections


def _optional(comparison: Comparison, timelines: Sequence[Timeline]) -> Iterable[SectionView]:
    gaps = charts.gap_charts(comparison)
    if gaps:
        yield SectionView("gaps", "How long the gaps are", figures=tuple(gaps))
    counts = _present(
        charts.call_chart(comparison), charts.kernel_chart(comparison), module_chart(timelines)
    )
    changed = tuple(
        table
        for phase in comparison.phases
        for changes in phase.kernels
        if (table := kernel_change_table(changes, comparison.baseline.short))
    )
    unknown = tuple(
        f"Kernels of {changes.candidate} are unknown: {changes.reason}"
        for phase in comparison.phases
        for changes in phase.kernels
        if not changes.known and changes.reason
    )
    if counts or changed or unknown:
        yield SectionView(
            "launches", "Launches and kernels", unknown, figures=counts, tables=changed
        )
    requests = tuple(charts.request_charts(comparison))
    if requests:
        tables = (request_table(comparison),)
        yield SectionView("requests", "Request level", figures=requests, tables=tables)


def _provenance(comparison: Comparison) -> SectionView:
    names = [side.short for side in comparison.sides]
    alike = tuple(
        (d.what, " · ".join(f"{n}: {v}" for n, v in zip(names, d.values, strict=True)))
        for d in comparison.differences
    )
    facts = [_side_facts(side) for side in comparison.sides]
    if alike:
        facts.insert(0, FactsView("What differs between the sides", alike))
    return SectionView("provenance", "Where the figures come from", facts=tuple(facts))


def _side_facts(side: Side) -> FactsView:
    facts = side.facts
    entries: list[tuple[str, str | None]] = [
        ("Model", facts.model),
        ("Variant", facts.variant),
        ("Layers", facts.layers_note),
        ("ISL / OSL", None if facts.isl is None else f"{facts.isl} / {facts.osl or '–'}"),
        ("Batch", None if facts.batch is None else str(facts.batch)),
        ("Data type", facts.dtype),
        ("Commit", facts.commit_text),
        ("Command", facts.command),
        ("Versions", ", ".join(f"{k} {v}" for k, v in facts.versions.items())),
        ("Peak GPU memory", _value(facts.peak_memory_bytes, "bytes")),
        ("Graph memory", _value(facts.graph_memory_bytes, "bytes")),
        ("Capture time", _value(facts.capture_ns, "ns")),
    ]
    if facts.failure:
        failure = facts.failure
        entries += [
            ("Failed", f"{failure.error_type}: {failure.error_line}"),
            ("Failed at", failure.source),
            ("What to do", failure.hint),
            ("Log", failure.log),
        ]
    for one in facts.equivalence:
        verdict = "identical" if one.identical else f"max abs difference {one.max_abs_diff}"
        entries.append((f"Outputs, {one.dtype}", verdict + ("" if one.finite else ", not finite")))
    for trace, words in ((side.trace, ""), (side.timing_trace, " for times")):
        if trace:
            entries.extend(trace_entries(trace, words))
    known = tuple((name, value) for name, value in entries if value)
    return FactsView(side.label, known or (("Trace", "none"),))


def trace_entries(trace: TraceInfo, words: str = "") -> list[tuple[str, str | None]]:
    """What is known of a recording, as names and values."""
    entries: list[tuple[str, str | None]] = [
        (f"Trace{words}", trace.file),
        ("SHA-256", trace.sha256),
        ("GPU", trace.gpu),
        ("Driver", trace.driver),
        ("CUDA driver", trace.cuda_driver),
        ("Nsight Systems", trace.nsys_version),
        ("Export schema", trace.export_schema),
        ("Graph tracing", trace.graph_tracing),
        ("API calls / GPU operations", f"{trace.api_calls:,} / {trace.ops:,}"),
        ("Operations without an API call", _value(trace.unlinked_ops or None, "count")),
        ("Profiler's own pauses", _value(trace.profiler_overhead_ns, "ns")),
    ]
    entries += [(f"nsys {d.severity}", f"{d.text} (× {d.count})") for d in trace.diagnostics]
    return entries + [("Warning", text) for text in trace.warnings]


def _difference_text(difference: Difference, names: Sequence[str]) -> str:
    values = ", ".join(f"{n}: {v}" for n, v in zip(names, difference.values, strict=True))
    return f"{difference.what} differs ({values})."


def _present(*figures: FigureView | None) -> tuple[FigureView, ...]:
    return tuple(figure for figure in figures if figure)


def _value(value: float | None, unit: str) -> str | None:
    return None if value is None else format_value(value, unit)
