"""Markdown to paste into a pull request: sentence, table, collapsed details."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from launchlens.records.comparison import Comparison, KernelChanges, PhaseComparison, Row
from launchlens.records.figures import Analysis, Group
from launchlens.render.format import (
    IDLE_BASIS,
    analysis_sentence,
    format_brief_change,
    format_cell,
    format_change,
    format_interval,
    format_ns,
    format_stat,
    format_value,
    format_verdict,
    gap_bin_label,
    joined,
    markdown_code,
    markdown_text,
    phase_title,
    sentences,
)
from launchlens.render.provenance import analysis_provenance, comparison_provenance
from launchlens.render.terminal import describe_equivalence, describe_finding
from launchlens.render.terminal_analysis import shown_metrics
from launchlens.render.terminal_metrics import shown_rows

_TOP_KERNELS = 15
_LONG = 500


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """A Markdown table; cells must be Markdown already. The first ``left`` columns are text."""
    marks = [":---" if i < left else "---:" for i in range(len(header))]
    lines = [header, marks, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def details(summary: str, *blocks: str) -> str:
    """A collapsed block; GitHub needs blank lines around Markdown inside."""
    body = "\n\n".join(block for block in blocks if block)
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"


def render_comparison_markdown(comparison: Comparison) -> str:
    """A comparison as GitHub Markdown."""
    blocks = [*(markdown_text(s, _LONG) for s in sentences(comparison))]
    for phase in comparison.phases:
        if len(comparison.phases) > 1:
            name, groups = phase_title(comparison, phase)
            blocks.append(f"**{name}** {groups}".rstrip())
        blocks.append(metric_table(comparison, phase))
    blocks += [requests_table(comparison), _equivalence(comparison), findings_list(comparison)]
    blocks += cautions(comparison)
    blocks += detail_blocks(comparison)
    return "\n\n".join(block for block in blocks if block) + "\n"


def metric_table(comparison: Comparison, phase: PhaseComparison, *, verbose: bool = False) -> str:
    """Metric, baseline, candidate, change, verdict; several candidates have a column each."""
    sides = comparison.sides
    shown = shown_rows(phase, verbose=verbose)
    names = [markdown_text(side.short) for side in sides]
    if len(sides) == 2:
        rows = [[row.title, *_separate(row)] for row in shown]
        return table(["metric", *names, "change", "verdict"], rows)
    return table(["metric", *names], [[row.title, *_folded(row)] for row in shown])


def _separate(row: Row) -> list[str]:
    baseline, cell = row.cells
    verdict = format_verdict(cell.verdict)
    loud = f"**{verdict}**" if verdict in _LOUD else verdict
    return [format_cell(row, baseline), format_cell(row, cell), format_change(row, cell), loud]


def _folded(row: Row) -> list[str]:
    """Value, change and verdict of each candidate in one cell; what is better stands bold."""
    cells = [format_cell(row, row.cells[0])]
    for cell in row.cells[1:]:
        verdict = "" if cell.verdict == "better" else format_verdict(cell.verdict)
        said = [s for s in (format_brief_change(row, cell), verdict) if s]
        value = format_cell(row, cell)
        value = f"**{value}**" if cell.verdict == "better" else value
        cells.append(f"{value} ({', '.join(said)})" if said and cell.value is not None else value)
    return cells


_LOUD = ("better", "worse")


def requests_table(comparison: Comparison) -> str:
    """TTFT, ITL, latency and throughput by concurrency, if measured."""
    rows = []
    for side in comparison.sides:
        for r in side.facts.requests:
            times = [format_ns(r.ttft_ns), format_value(r.itl_ns, "ns"), format_ns(r.latency_ns)]
            rates = [f"{r.requests_per_s:.1f}", f"{r.tokens_per_s:.0f}"]
            rows.append([str(r.concurrency), markdown_text(side.short), *times, *rates])
    if not rows:
        return ""
    first = next(s.facts.requests[0] for s in comparison.sides if s.facts.requests)
    header = ["concurrency", "variant", "TTFT", "ITL", "request latency", "req/s", "tokens/s"]
    title = f"Requests, untraced (ISL {first.isl}, OSL {first.osl}):"
    return title + "\n\n" + table(header, sorted(rows, key=lambda r: int(r[0])), left=2)


def _equivalence(comparison: Comparison) -> str:
    said = [
        f"- {markdown_text(side.short)}: {describe_equivalence(e)}"
        for side in comparison.candidates
        for e in side.facts.equivalence
    ]
    return "Outputs beside the baseline's:\n\n" + "\n".join(said) if said else ""


def findings_list(comparison: Comparison) -> str:
    """Capture blockers of all sides."""
    lines = []
    for side in comparison.sides:
        for f in side.findings:
            lines.append(
                f"- {markdown_text(side.short)}: {markdown_text(describe_finding(f), _LONG)}"
            )
            if f.confidence != "cleared":
                lines.append(f"  - remedy: {markdown_text(f.remedy, _LONG)}")
            elif f.note:
                lines.append(f"  - {markdown_text(f.note, _LONG)}")
    return "Capture blockers:\n\n" + "\n".join(lines) if lines else ""


def cautions(comparison: Comparison) -> list[str]:
    """What differs, and notes, as quotes that nobody overlooks."""
    lines = [
        f"> differs: {d.what}: {markdown_text(joined(d.values))}"
        for d in comparison.differences
        if d.serious
    ]
    lines += [f"> {markdown_text(note, _LONG)}" for note in comparison.notes]
    for phase in comparison.phases[:1]:
        notes = dict.fromkeys(r.note for r in shown_rows(phase, verbose=False) if r.note)
        lines += [f"> {note}" for note in notes if note]
    lines.append(f"> {IDLE_BASIS}")
    return ["\n>\n".join(lines)]


def detail_blocks(comparison: Comparison) -> list[str]:
    """Collapsed blocks: all metrics, kernels that changed, gaps, provenance."""
    blocks = []
    for phase in comparison.phases:
        full = metric_table(comparison, phase, verbose=True)
        blocks.append(details(f"All metrics, {phase.phase}", full, _intervals(comparison, phase)))
        blocks += [_kernels(changes) for changes in phase.kernels]
    gaps = _gaps(comparison)
    if gaps:
        blocks.append(details("Gaps by length, all steps", gaps))
    facts = [
        [markdown_text(k), markdown_text(v, _LONG)] for k, v in comparison_provenance(comparison)
    ]
    return [*blocks, details("Provenance", table(["", ""], facts, left=2))]


def _intervals(comparison: Comparison, phase: PhaseComparison) -> str:
    rows = [
        [row.title, *(format_interval(c.ci_low, c.ci_high, row.unit) for c in row.cells)]
        for row in shown_rows(phase, verbose=True)
        if row.unit in ("ns", "fraction")
    ]
    header = ["95% interval of the median", *(markdown_text(s.short) for s in comparison.sides)]
    return table(header, rows)


def _kernels(changes: KernelChanges) -> str:
    name = markdown_text(changes.candidate)
    if not changes.known:
        return details(f"Kernels, {name}", f"unknown: {markdown_text(changes.reason or '', _LONG)}")
    groups = (("added", changes.added), ("removed", changes.removed), ("changed", changes.changed))
    rows = [
        [
            f"{word} {markdown_code(diff.name, 120)}",
            format_value(diff.baseline_count, "count"),
            format_value(diff.candidate_count, "count"),
            format_ns(diff.baseline_ns),
            format_ns(diff.candidate_ns),
        ]
        for word, diffs in groups
        for diff in diffs[:_TOP_KERNELS]
    ]
    counted = ", ".join(f"{len(diffs)} {word}" for word, diffs in groups)
    header = ["kernel, per step", "before", "after", "time before", "time after"]
    return details(f"Kernels, {name}: {counted}", table(header, rows) if rows else "none")


def _gaps(comparison: Comparison) -> str:
    sides = [s for s in comparison.sides if s.gap_histogram]
    if not sides:
        return ""
    rows = []
    for i, gap in enumerate(sides[0].gap_histogram):
        cells = (s.gap_histogram[i] for s in sides)
        rows.append(
            [
                markdown_text(gap_bin_label(gap)),
                *(f"{g.count} · {format_ns(g.total_ns)}" for g in cells),
            ]
        )
    return table(["gap", *(f"{markdown_text(s.short)}: count · time" for s in sides)], rows)


def render_analysis_markdown(analysis: Analysis) -> str:
    """One trace as GitHub Markdown."""
    blocks = [markdown_text(analysis_sentence(analysis), _LONG)]
    for group in analysis.summary:
        device = "unknown" if group.device is None else str(group.device)
        title = f"**{group.phase}**: {group.steps} steps, process {group.pid}, device {device}"
        blocks += [f"{title}, {group.dropped} dropped", _figures(group), _group_details(group)]
    blocks.append(f"> {IDLE_BASIS}")
    if analysis.findings:
        lines = [f"- {markdown_text(describe_finding(f), _LONG)}" for f in analysis.findings]
        blocks.append("Capture blockers:\n\n" + "\n".join(lines))
    notes = (*analysis.trace.warnings, *analysis.notes)
    blocks += [f"> {markdown_text(note, _LONG)}" for note in notes]
    facts = [[markdown_text(k), markdown_text(v, _LONG)] for k, v in analysis_provenance(analysis)]
    blocks.append(details("Provenance", table(["", ""], facts, left=2)))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _figures(group: Group) -> str:
    rows = []
    for metric in shown_metrics(verbose=False):
        title, unit, stat = metric.title, metric.unit, group.metrics[metric.name]
        if not stat.median and not metric.always:
            continue
        quantiles = (format_value(v, unit) for v in (stat.p10, stat.p90, stat.p99))
        values = [format_stat(stat, unit), *quantiles]
        interval = format_interval(stat.ci_low, stat.ci_high, unit)
        if stat.median is None:
            values = ["unknown", "", "", ""]
        rows.append([title, *values, interval])
    figures = table(["per step", "median", "p10", "p90", "p99", "95% interval"], rows)
    reason = group.unknown_reason
    return f"{figures}\n\n> unknown where: {markdown_text(reason, _LONG)}" if reason else figures


def _group_details(group: Group) -> str:
    blocks = []
    if group.kernels:
        rows = [
            [
                markdown_code(k.name, 120),
                str(k.count),
                format_ns(k.total_ns),
                f"{k.share:.1%}",
                format_ns(k.median_ns),
            ]
            for k in group.kernels[:_TOP_KERNELS]
        ]
        blocks.append(table(["kernel, all steps", "count", "total", "share", "median"], rows))
    if group.gap_followers:
        rows = [
            [markdown_code(f.name, 120), str(f.gaps), str(f.count), format_ns(f.idle_ns)]
            for f in group.gap_followers[:_TOP_KERNELS]
        ]
        blocks.append(table(["the GPU idles after", "gaps", "of runs", "idle"], rows))
    if group.gap_histogram:
        rows = [
            [markdown_text(gap_bin_label(g)), str(g.count), format_ns(g.total_ns)]
            for g in group.gap_histogram
        ]
        blocks.append(table(["gap", "count", "time"], rows))
    if group.api_calls:
        rows = [
            [markdown_code(a.name), str(a.count), format_ns(a.total_ns), format_ns(a.median_ns)]
            for a in group.api_calls[:_TOP_KERNELS]
        ]
        blocks.append(table(["host API call, all steps", "count", "total", "median"], rows))
    return details("Kernels, gaps and calls", *blocks) if blocks else ""
