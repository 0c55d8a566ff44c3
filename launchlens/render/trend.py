"""A figure over stored runs: its course in words, and a sparkline for the terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from launchlens.catalogue import bound_under
from launchlens.render.format import UNKNOWN, format_value, plain, signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from launchlens.records.trend import TrendPoint, TrendSeries

_BARS = "▁▂▃▄▅▆▇█"
_GAP = "·"
_LAST_POINTS = 8
_HASH = 7


def render_trend(series: Sequence[TrendSeries], *, width: int | None = None) -> str:
    """Each series as a heading, its course in words and as a sparkline, and its newest points.

    Args:
        series: from `store.trend`.
        width: columns of the terminal; None folds nothing.

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


def series_title(series: TrendSeries) -> str:
    """What a series is of: model, variant, phase, shape, GPU, source."""
    parts = [series.model, series.variant, series.phase, series.shape, series.gpu]
    return ", ".join(plain(part) for part in [*parts, source_words(series.source)] if part)


def source_words(kind: str) -> str:
    """How a figure was measured: without a profiler, or in a trace of some kind."""
    return kind if kind == "untraced" else f"traced ({kind})"


def _render_series(series: TrendSeries, width: int | None) -> str:
    values = [point.value for point in series.points]
    known = [value for value in values if value is not None]
    said = describe_course(series)
    if len(set(known)) > 1:
        low, high = (trend_value(series, value) for value in (min(known), max(known)))
        said += f", between {low} and {high}"
    hidden = len(values) - _LAST_POINTS
    return "\n".join(
        [
            _filled(f"{plain(series.metric)}: {series_title(series)}", width),
            _filled(f"  {said}", width),
            f"  {sparkline(values[-(width - 2) :] if width else values)}",
            *([f"  … {hidden} older"] if hidden > 0 else []),
            *(_render_point(series, point) for point in series.points[-_LAST_POINTS:]),
        ]
    )


def _filled(line: str, width: int | None) -> str:
    if width is None:
        return line
    return textwrap.fill(line, width, subsequent_indent="  ", break_on_hyphens=False)


def describe_course(series: TrendSeries) -> str:
    """From the first known value to the last: "47.4 ms → 46.0 ms (−3.0%) over 3 runs"."""
    known = series.known
    runs = "1 run" if len(series.points) == 1 else f"{len(series.points)} runs"
    if not known:
        return f"{UNKNOWN} in {runs}"
    last = trend_value(series, known[-1].value)
    if len(known) == 1:
        return f"{last} in {runs}"
    said = _format_change(series, known[-1].value, known[0].value)
    change = f" ({said})" if said else ""
    return f"{trend_value(series, known[0].value)} → {last}{change} over {runs}"


def describe_change(series: TrendSeries, point: TrendPoint) -> str:
    """A point's change since the run before; fractions in percentage points."""
    if point.value is None or point.change is None:
        return ""
    return _format_change(series, point.value, point.value - point.change)


def _format_change(
    series: TrendSeries, value: float | int | None, before: float | int | None
) -> str:
    """Nothing where there is no change to tell: two bounds have none, nor has a rise from 0."""
    if value is None or before is None or bound_under(series.metric, series.source):
        return ""
    if series.unit == "fraction":
        return f"{_plus(100 * (value - before))} pp"
    return f"{_plus(100 * (value / before - 1))}%" if before else ""


def trend_value(series: TrendSeries, value: float | int | None) -> str:
    """A point's value; what whole-graph tracing gives only a bound of is marked as one."""
    mark = {"lower": "≥ ", "upper": "≤ "}.get(bound_under(series.metric, series.source) or "", "")
    return (mark if value is not None else "") + format_value(value, series.unit)


def _plus(value: float) -> str:
    return ("+" if value > 0 else "") + signed(value, ".1f")


def _render_point(series: TrendSeries, point: TrendPoint) -> str:
    commit = (point.git_commit or "")[:_HASH] or "no commit"
    commit = plain(commit) + ("+" if point.git_dirty else "")
    value = trend_value(series, point.value)
    said = f"  {point.created[:10]}  {commit:<9} {value:>12}  {describe_change(series, point)}"
    return said.rstrip()
