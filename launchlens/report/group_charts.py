"""Charts of one trace, and of a figure over stored runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from launchlens.catalogue import bound_under
from launchlens.records.figures import Group
from launchlens.records.timeline import Timeline
from launchlens.records.trend import TrendPoint, TrendSeries
from launchlens.report.chart_parts import (
    BUSY,
    MOST_NAMES,
    cause_series,
    causes,
    gap_histograms,
    side_series,
)
from launchlens.report.document import Chart, Series, Value
from launchlens.report.modules import launches_by_module

_MOST_MODULES = 15
_HASH = 7


def step_time(group: Group, index: int) -> Chart | None:
    """Busy time and idle time by cause of a group's step; None where all are unknown or 0."""
    series = [Series("busy", (_median(group, "busy_ns"),), ("busy", ""), BUSY)]
    series += [cause_series(c, metric, [_median(group, metric.name)]) for c, metric in causes()]
    shown = tuple(one for one in series if one.values[0].number)
    if not shown:
        return None
    return Chart(
        f"idle-{index}",
        "Where the step's time goes on the GPU",
        (f"{group.phase} step",),
        shown,
        "ns",
        "stacked",
        "Traced; each part is its own median over the steps.",
    )


def kernel_times(group: Group, index: int) -> Chart | None:
    """The kernels of a group that take longest."""
    rows = group.kernels[:MOST_NAMES]
    if not rows:
        return None
    return Chart(
        f"kernels-{index}",
        "Kernels by total time",
        tuple(row.name for row in rows),
        (Series("total time", tuple(Value(r.total_ns, "ns") for r in rows), ("side", "1")),),
        "ns",
        caption=f"Over {group.steps} steps together.",
    )


def group_gaps(group: Group, index: int) -> tuple[Chart, ...]:
    """How long the gaps of a group are, and how many there are of which length."""
    return gap_histograms([(group.phase, group.gap_histogram, group.steps)], f"-{index}")


def modules(timelines: Sequence[Timeline]) -> Chart | None:
    """Launch calls of each drawn step by module; None where no side has module ranges."""
    counts = [launches_by_module(timeline) for timeline in timelines]
    total = sum((side for side in counts if side), Counter[str]())
    names = [name for name, _ in total.most_common(_MOST_MODULES)]
    if not names:
        return None
    left_out = len(total) - len(names)
    more = f" {left_out} modules with fewer are left out." if left_out else ""
    numbers = [[side.get(name, 0) if side else None for name in names] for side in counts]
    series, unknown = side_series([timeline.side for timeline in timelines], numbers, "count")
    return Chart(
        "modules",
        "Launches by module",
        tuple(names),
        series,
        "count",
        caption="Launch calls of the step in the timeline, by the innermost module they were made "
        f"in; layers of a stack together.{more}{unknown}",
    )


def trend_lines(
    members: Sequence[TrendSeries], index: int, change: Callable[[TrendSeries, TrendPoint], str]
) -> Chart:
    """A figure over runs: a line for each variant, over all runs in the order in which they began.

    Args:
        members: series that differ in nothing but the variant.
        index: makes the anchor unique.
        change: words for a point's change since the run before; "" where there is none.
    """
    found = {point.run_id: point for one in members for point in one.points}
    runs = sorted(found.values(), key=lambda point: (point.created, point.run_id))
    return Chart(
        f"trend-{index}",
        f"{members[0].metric} by run",
        tuple(f"{run_name(run)} ({run.run_id})" for run in runs),
        tuple(_line(one, i, runs, change) for i, one in enumerate(members)),
        members[0].unit,
        "lines",
        "Medians; the bars are 95% intervals where they are known. "
        "A + behind a commit: files were changed. A gap: the figure is unknown.",
        short=tuple(run_name(run) for run in runs),
    )


def run_name(point: TrendPoint) -> str:
    """A run by its day and commit, with a + where files were changed."""
    commit = (point.git_commit or "")[:_HASH] or "no commit"
    return f"{point.created[:10]} {commit}{'+' if point.git_dirty else ''}"


def _line(
    series: TrendSeries,
    index: int,
    runs: Sequence[TrendPoint],
    change: Callable[[TrendSeries, TrendPoint], str],
) -> Series:
    points = {point.run_id: point for point in series.points}
    bound = bound_under(series.metric, series.source)
    values, hover = [], []
    for run in runs:
        value, said = Value(None, series.unit), ""
        if point := points.get(run.run_id):
            limit = point.bound or bound
            value = Value(point.value, series.unit, limit, point.ci_low, point.ci_high)
            said = change(series, point)
        values.append(value)
        hover.append(f"{said} since the run before" if said else "")
    absent = tuple(i for i, run in enumerate(runs) if run.run_id not in points)
    role = ("side", str(index + 1))
    return Series(series.variant, tuple(values), role, "", tuple(hover), absent)


def _median(group: Group, metric: str) -> Value:
    stat = group.metrics.get(metric)
    return Value(stat.median, "ns", stat.bound) if stat else Value(None, "ns")
