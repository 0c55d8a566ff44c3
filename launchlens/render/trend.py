"""A figure over stored runs: a sparkline for the terminal, records for a plot."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from launchlens.render.format import UNKNOWN, format_value, plain, signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from launchlens.model.trend import TrendPoint, TrendSeries

_BARS = "▁▂▃▄▅▆▇█"
_GAP = "·"
_LAST_POINTS = 8
_HASH = 7


def render_trend(series: Sequence[TrendSeries], *, width: int | None = None) -> str:
    """Each series as a heading, a sparkline with its range, and its newest points.

    Args:
        series: from `store.trend`.
        width: columns of the terminal, for headings; None leaves them on a line.

    Returns:
        Text without colour, a blank line between series.
    """
    return "\n\n".join(_render_series(item, width) for item in series) + "\n"


def sparkline(values: Sequence[float | int | None]) -> str:
    """One character for each value, oldest first; "·" for unknown ones.

    The lowest bar is the smallest value and the highest the largest: the line shows a course,
    not sizes. Values that are all alike give a middle line.
    """
    known = [value for value in values if value is not None]
    if not known:
        return _GAP * len(values)
    low, high = min(known), max(known)
    top = len(_BARS) - 1
    marks = []
    for value in values:
        if value is None:
            marks.append(_GAP)
        elif high == low:
            marks.append(_BARS[top // 2])
        else:
            marks.append(_BARS[round((value - low) / (high - low) * top)])
    return "".join(marks)


def trend_records(series: Sequence[TrendSeries]) -> list[dict[str, Any]]:
    """A record for each point, for an HTML plot or a data frame.

    Returns:
        Keys: ``series`` (its title), ``metric``, ``run_id``, ``created``, ``commit``,
        ``dirty``, ``unit``, ``value``, ``ci_low``, ``ci_high``; values in base units.
    """
    return [
        {
            "series": series_title(item),
            "metric": item.metric,
            "run_id": point.run_id,
            "created": point.created,
            "commit": point.git_commit,
            "dirty": point.git_dirty,
            "unit": item.unit,
            "value": point.value,
            "ci_low": point.ci_low,
            "ci_high": point.ci_high,
        }
        for item in series
        for point in item.points
    ]


def series_title(series: TrendSeries) -> str:
    """What a series is of: model, variant, phase, shape, GPU, source."""
    parts = [series.model, series.variant, series.phase, series.shape, series.gpu]
    return ", ".join(plain(part) for part in [*parts, source_words(series.source)] if part)


def source_words(kind: str) -> str:
    """How a figure was measured: without a profiler, or in a trace of some kind."""
    return kind if kind == "untraced" else f"traced ({kind})"


def _render_series(series: TrendSeries, width: int | None) -> str:
    unit = series.unit
    values = [point.value for point in series.points]
    known = [value for value in values if value is not None]
    head = f"{plain(series.metric)}: {series_title(series)}"
    if width is not None:
        head = textwrap.fill(head, width, subsequent_indent="  ", break_on_hyphens=False)
    if not known:
        return f"{head}\n  {sparkline(values)}  {UNKNOWN} in all {len(values)} runs"
    low, high = format_value(min(known), unit), format_value(max(known), unit)
    runs = "1 run" if len(values) == 1 else f"{len(values)} runs"
    line = f"  {sparkline(values)}  {low} to {high}, {runs}"
    hidden = len(values) - _LAST_POINTS
    rows = [f"  … {hidden} older"] if hidden > 0 else []
    rows += [_render_point(point, unit) for point in series.points[-_LAST_POINTS:]]
    return "\n".join([head, line, *rows])


def _render_point(point: TrendPoint, unit: str) -> str:
    commit = (point.git_commit or "")[:_HASH] or "no commit"
    commit = plain(commit) + ("+" if point.git_dirty else "")
    value = format_value(point.value, unit)
    change = ""
    if point.relative is not None:
        plus = "+" if point.relative > 0 else ""
        change = f"  {plus}{signed(100 * point.relative, '.1f')}%"
    return f"  {point.created[:10]}  {commit:<9} {value:>12}{change}"
