"""Charts of one trace, and of a figure over stored runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from launchlens.plural import counted
from launchlens.records.figures import Group
from launchlens.records.timeline import Timeline
from launchlens.report import words
from launchlens.report.cells import Value
from launchlens.report.chart_parts import (
    BUSY,
    MOST_NAMES,
    cause_series,
    causes,
    gap_histograms,
    side_series,
)
from launchlens.report.modules import launches_by_module
from launchlens.report.pictures import Chart, Series
from launchlens.report.words import step_words

_MOST_MODULES = 15


def step_time(group: Group, index: int) -> Chart | None:
    """Busy time and idle time by cause of a group's step; None where all are unknown or 0."""
    series = [Series("busy", (_median(group, "busy_ns"),), ("busy", ""), BUSY)]
    series += [cause_series(c, metric, [_median(group, metric.name)]) for c, metric in causes()]
    shown = tuple(one for one in series if one.values[0].number)
    if not shown:
        return None
    return Chart(
        f"idle-{index}",
        f"Where a {step_words(group.phase)}'s time goes on the GPU",
        (step_words(group.phase),),
        shown,
        "ns",
        "stacked",
        "Traced; each part is its own median over the steps.",
        beside=(words.value(_median(group, "window_ns")),),
    )


def kernel_times(group: Group, index: int, short: Mapping[str, str]) -> Chart | None:
    """The kernels of a group that take longest, under their short names."""
    rows = group.kernels[:MOST_NAMES]
    if not rows:
        return None
    return Chart(
        f"kernels-{index}",
        "Kernels by time",
        tuple(short.get(row.name, row.name) for row in rows),
        (
            Series(
                "time in a step",
                tuple(Value(r.total_ns / group.steps, "ns", r.total_bound) for r in rows),
                ("busy", ""),
            ),
        ),
        "ns",
        caption=f"Mean per step, over {counted(group.steps, 'step')}.",
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
    fewer = counted(left_out, "module")
    more = f" Left out: {fewer} with fewer launches." if left_out else ""
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


def _median(group: Group, metric: str) -> Value:
    stat = group.metrics.get(metric)
    return Value(stat.median, "ns", stat.bound) if stat else Value(None, "ns")
