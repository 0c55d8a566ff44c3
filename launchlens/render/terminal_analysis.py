"""One trace's report for the terminal."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from launchlens.catalogue import step_metrics
from launchlens.records.figures import Analysis, Group, Step
from launchlens.records.metric import Metric
from launchlens.render.format import (
    IDLE_BASIS,
    analysis_sentence,
    format_interval,
    format_ns,
    format_stat,
    format_value,
    gap_bin_label,
    plain,
)
from launchlens.render.provenance import analysis_provenance
from launchlens.render.terminal import describe_finding
from launchlens.render.terminal_tables import new_table, to_text

_TOP = 5
_TOP_VERBOSE = 25


def render_analysis(
    analysis: Analysis, *, verbose: bool = False, width: int = 100, color: bool = False
) -> str:
    """One trace for the terminal: the sentence, a table for each group, details on request."""
    parts: list[RenderableType] = [Text(analysis_sentence(analysis), style="bold")]
    for group in analysis.summary:
        parts += ["", _heading(group), _figures(group, verbose=verbose)]
        if group.unknown_reason:
            reason = plain(group.unknown_reason, 400)
            parts.append(Text(f"! unknown where: {reason}", style="yellow"))
        parts += _tables(group, verbose=verbose)
    parts += ["", Text(IDLE_BASIS, style="dim")]
    if analysis.findings:
        parts += ["", Text("Capture blockers", style="bold")]
        parts += [Text(describe_finding(f)) for f in analysis.findings]
    notes = (*analysis.trace.warnings, *analysis.notes)
    if notes:
        parts += ["", *(Text(f"! {plain(n, 400)}", style="yellow") for n in notes)]
    if verbose:
        parts += ["", _steps(analysis.steps)]
        table = new_table("provenance", "", numbers_from=2)
        for key, value in analysis_provenance(analysis):
            table.add_row(key, Text(plain(value, 300)))
        parts += ["", table]
    return to_text(parts, width=width, color=color)


def shown_metrics(*, verbose: bool) -> list[Metric]:
    """Metrics of a step that a report of one trace shows: all of them with ``verbose``."""
    return [m for m in step_metrics() if verbose or m.shown != "detail"]


def _heading(group: Group) -> Text:
    device = "unknown" if group.device is None else str(group.device)
    dropped = f", {group.dropped} dropped" if group.dropped else ""
    return Text(
        f"{group.phase}: {group.steps} steps{dropped} (process {group.pid}, device {device}, "
        f"steps named by {group.engine})",
        style="bold",
    )


def _figures(group: Group, *, verbose: bool) -> RenderableType:
    table = new_table("per step", "median", "p10", "p90", "p99", "95% interval")
    for metric in shown_metrics(verbose=verbose):
        title, unit, stat = metric.title, metric.unit, group.metrics[metric.name]
        if not metric.always and not stat.median:
            continue
        if stat.median is None:
            table.add_row(title, "unknown", "", "", "", "")
            continue
        quantiles = (format_value(v, unit) for v in (stat.p10, stat.p90, stat.p99))
        interval = format_interval(stat.ci_low, stat.ci_high, unit)
        table.add_row(title, format_stat(stat, unit), *quantiles, interval)
    return table


def _tables(group: Group, *, verbose: bool) -> list[RenderableType]:
    top = _TOP_VERBOSE if verbose else _TOP
    parts: list[RenderableType] = []
    if any(gap.count for gap in group.gap_histogram):
        table = new_table("gaps, all steps", "count", "time")
        for gap in group.gap_histogram:
            table.add_row(gap_bin_label(gap), str(gap.count), format_ns(gap.total_ns))
        parts += ["", table]
    if group.gap_followers:
        table = new_table("the GPU idles after", "gaps", "of runs", "idle")
        for f in group.gap_followers[:top]:
            name = Text(plain(f.name, 90))
            table.add_row(name, str(f.gaps), str(f.count), format_ns(f.idle_ns))
        parts += ["", table]
    if group.kernels:
        table = new_table("kernels, all steps", "count", "total", "share", "median")
        for k in group.kernels[:top]:
            table.add_row(
                Text(plain(k.name, 90)),
                str(k.count),
                format_ns(k.total_ns),
                f"{k.share:.1%}",
                format_ns(k.median_ns),
            )
        parts += ["", table]
    if group.api_calls:
        table = new_table("host API calls, all steps", "count", "total", "median")
        for a in group.api_calls[:top]:
            table.add_row(
                Text(plain(a.name)), str(a.count), format_ns(a.total_ns), format_ns(a.median_ns)
            )
        parts += ["", table]
    return parts


def _steps(steps: tuple[Step, ...]) -> RenderableType:
    several = len({(s.pid, s.device) for s in steps}) > 1
    where = ("pid:gpu",) if several else ()
    figures = ("launches", "kernels", "window", "busy", "idle", "bound")
    table = new_table("step", "phase", *where, *figures)
    for s in steps[:200]:
        device = "?" if s.device is None else str(s.device)
        table.add_row(
            Text(plain(s.range, 60)),
            s.phase,
            *((f"{s.pid}:{device}",) if several else ()),
            format_value(s.launches, "count"),
            format_value(s.kernels, "count"),
            format_value(s.window_ns, "ns"),
            format_value(s.busy_ns, "ns"),
            format_value(s.idle, "fraction"),
            s.bound or "unknown",
        )
    if len(steps) > 200:
        table.add_row(Text(f"… {len(steps) - 200} more: --format csv lists all"))
    return table
