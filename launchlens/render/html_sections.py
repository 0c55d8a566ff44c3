"""The sections of a comparison's page, in reading order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from launchlens.model.comparison import Comparison, Difference, PhaseComparison, Side
from launchlens.model.figures import Finding, TraceInfo
from launchlens.model.timeline import Timeline
from launchlens.render import html_charts as charts
from launchlens.render.format import format_value
from launchlens.render.html_figures import shorten
from launchlens.render.html_page import (
    FactsView,
    FigureView,
    FindingView,
    SectionView,
    Tile,
    TileValue,
)
from launchlens.render.html_tables import kernel_change_table, metric_table, request_table

_CONFIDENCE_CHIPS = {"confirmed": "worse", "likely": "worse", "cleared": "better"}


def headline_tiles(comparison: Comparison) -> tuple[Tile, ...]:
    """The first headline rows of the first phase, large."""
    if not comparison.phases:
        return ()
    rows = [row for row in comparison.phases[0].rows if row.headline][:4]
    names = [side.short for side in comparison.sides]
    return tuple(
        Tile(
            row.title,
            tuple(
                TileValue(name, format_value(cell.value, row.unit))
                for name, cell in zip(names, row.cells, strict=True)
            ),
        )
        for row in rows
    )


def comparison_notices(comparison: Comparison) -> tuple[str, ...]:
    """What may make the comparison unfair, and variants that failed."""
    names = [side.short for side in comparison.sides]
    notices = [_difference_text(d, names) for d in comparison.differences if d.serious]
    for side in comparison.sides:
        if side.facts.failure:
            failure = side.facts.failure
            where = f" at {failure.source}" if failure.source else ""
            hint = f" {failure.hint}" if failure.hint else ""
            notices.append(
                f"{side.short} could not be run: {failure.error_type}: "
                f"{failure.error_line}{where}.{hint}"
            )
    return (*notices, *comparison.notes)


def comparison_sections(
    comparison: Comparison, timelines: Sequence[Timeline]
) -> tuple[SectionView, ...]:
    """All sections that have something to show."""
    sections: list[SectionView] = [_metrics(comparison, phase) for phase in comparison.phases]
    if timelines:
        sections.append(timeline_section(timelines))
    for phase in comparison.phases:
        sections.extend(_times(comparison, phase))
    sections.extend(_optional(comparison))
    sections.append(_provenance(comparison))
    return tuple(sections)


def _metrics(comparison: Comparison, phase: PhaseComparison) -> SectionView:
    names = [side.short for side in comparison.sides]
    used = ", ".join(f"{n} of {name}" for n, name in zip(phase.steps, names, strict=True))
    caption = f"{phase.phase.capitalize()} steps used: {used}. Medians; the 95% interval below."
    if any(phase.dropped):
        dropped = ", ".join(f"{n} of {name}" for n, name in zip(phase.dropped, names, strict=True))
        caption += f" Dropped at the start: {dropped}."
    headline = [row for row in phase.rows if row.headline]
    rest = [row for row in phase.rows if not row.headline]
    tables = [metric_table(comparison, phase, headline, caption)]
    if rest:
        tables.append(
            metric_table(
                comparison,
                phase,
                rest,
                f"All other figures of {phase.phase} steps",
                f"All other figures ({len(rest)})",
            )
        )
    bound = [f"{name} is {b}" for name, b in zip(names, phase.bound, strict=True) if b]
    paragraphs = ("By the causes of their gaps: " + ", ".join(bound) + ".",) if bound else ()
    title = f"Figures of a {phase.phase} step"
    return SectionView(f"figures-{phase.phase}", title, paragraphs, tables=tuple(tables))


def timeline_section(timelines: Sequence[Timeline]) -> SectionView:
    """One step of each side on a common time axis."""
    parts = []
    for timeline in timelines:
        lanes = ", ".join(
            f"{format_value(len(lane.spans), 'count')} in {shorten(lane.title, 60)}"
            for lane in timeline.lanes
        )
        window = format_value(timeline.window_ns, "ns")
        parts.append(f"{timeline.side}: {timeline.range}, window {window}, spans: {lanes}")
    sides = "each side" if len(timelines) > 1 else "the trace"
    return SectionView(
        "timelines",
        "Timeline of one step",
        (f"The step of {sides} whose window is the median one, all on the same time axis.",),
        timeline="Timeline. " + ". ".join(parts) + ".",
    )


def _times(comparison: Comparison, phase: PhaseComparison) -> list[SectionView]:
    sections = []
    idle = charts.idle_chart(comparison, phase)
    if idle:
        title = f"Idle time by cause, {phase.phase}"
        sections.append(SectionView(f"causes-{phase.phase}", title, figures=(idle,)))
    pair = _present(
        charts.time_chart(comparison, phase), charts.idle_fraction_chart(comparison, phase)
    )
    if pair:
        title = f"With and without the profiler, {phase.phase}"
        sections.append(SectionView(f"untraced-{phase.phase}", title, figures=pair))
    return sections


def _optional(comparison: Comparison) -> Iterable[SectionView]:
    gaps = charts.gap_charts(comparison)
    if gaps:
        yield SectionView("gaps", "How long the gaps are", figures=tuple(gaps))
    counts = _present(charts.call_chart(comparison), charts.kernel_chart(comparison))
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
    if any(side.findings for side in comparison.sides):
        yield SectionView(
            "blockers",
            "What stands in the way of a CUDA graph",
            findings=tuple(
                finding_view(finding, side.short)
                for side in comparison.sides
                for finding in side.findings
            ),
        )


def finding_view(finding: Finding, side: str = "") -> FindingView:
    """A capture blocker as text."""
    same = "the same in every step" if finding.stable else "not the same in all steps"
    size = None if finding.bytes is None else f"{format_value(finding.bytes, 'bytes')} each"
    facts = [
        f"{format_value(finding.count_per_step, 'count')} in each step, {same}",
        finding.kinds,
        size,
        finding.host_ns is not None and f"host time {format_value(finding.host_ns, 'ns')}",
        finding.idle_ns is not None and f"GPU idle {format_value(finding.idle_ns, 'ns')}",
        finding.position,
        f"rule {finding.rule}",
    ]
    return FindingView(
        title=f"{side}: {finding.title}" if side else finding.title,
        confidence=finding.confidence,
        chip=_CONFIDENCE_CHIPS.get(finding.confidence, ""),
        facts=" · ".join(fact for fact in facts if fact),
        source=finding.source,
        note=finding.note,
        remedy=finding.remedy,
        stack="\n".join(finding.stack),
    )


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
        ("Commit", facts.commit),
        ("Command", facts.command),
        ("Versions", ", ".join(f"{k} {v}" for k, v in facts.versions.items())),
        ("Peak GPU memory", _value(facts.peak_memory_bytes, "bytes")),
        ("Graph memory", _value(facts.graph_memory_bytes, "bytes")),
        ("Capture time", _value(facts.capture_ns, "ns")),
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
