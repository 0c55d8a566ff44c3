"""One metric of one side: from the trace, from the whole-graph trace, or untraced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from launchlens.catalogue import by_name
from launchlens.comparison.sides import timing_group
from launchlens.records.comparison import SideInput
from launchlens.records.figures import Group, Phase, Stat
from launchlens.records.metric import Bound, Metric

Compute = Callable[[SideInput, Group | None, Phase], Stat | None]
SIDE_FIGURES: dict[str, Compute] = {}
"""Figures of a side that are computed, by name; the others are fields of its facts."""


def side_figure(compute: Compute) -> Compute:
    """Register what computes the catalogue's metric of that name for a side."""
    SIDE_FIGURES[compute.__name__] = compute
    return compute


def figure_of(
    side: SideInput, group: Group | None, phase: Phase, metric: Metric
) -> tuple[Stat | None, str]:
    """A side's figure and where it comes from: "trace", "graph trace" or "untraced"."""
    if metric.owner == "side":
        compute = SIDE_FIGURES.get(metric.name)
        figure = compute(side, group, phase) if compute else _fact(side, metric)
        if metric.whole_graph:
            return figure, "graph trace" if side.timing else "trace"
        return figure, "untraced"
    return group.metrics.get(metric.name) if group else None, "trace"


def side_figures(side: SideInput) -> tuple[Group, ...]:
    """The groups of a side's trace, their metrics those that rest on it and on untraced times."""
    return tuple(
        replace(
            group,
            metrics={
                name: stat
                for name, compute in SIDE_FIGURES.items()
                if by_name()[name].of_phase is None  # of a phase, whatever trace there is
                and (stat := compute(side, group, group.phase)) is not None
            },
        )
        for group in (side.analysis.summary if side.analysis else ())
    )


@side_figure
def untraced_ns(side: SideInput, _group: Group | None, phase: Phase) -> Stat | None:
    """Wall time of the steps of this phase, timed with no profiler."""
    return next((u.wall_ns for u in side.facts.untraced if u.phase == phase), None)


@side_figure
def window_graph_ns(side: SideInput, group: Group | None, _phase: Phase) -> Stat | None:
    """Window in the whole-graph trace; of steps without graphs that of their only trace."""
    if group is None:
        return None
    if side.timing is None:
        return group.metrics.get("window_ns") if group.graph_tracing == "none" else None
    timing = timing_group(side, group)
    return timing.metrics["window_ns"] if timing else None


@side_figure
def inflation(side: SideInput, group: Group | None, phase: Phase) -> Stat | None:
    """Traced window over untraced wall, less one; of the trace that idle is from."""
    wall = untraced_ns(side, group, phase)
    if wall is None or group is None or not wall.median:
        return None
    window = group.metrics["window_ns"]
    if window.median is None:
        return None
    return replace(_point(window.median / wall.median - 1, wall.n), bound=window.bound)


@side_figure
def idle_corrected(side: SideInput, group: Group | None, phase: Phase) -> Stat | None:
    """1 - busy / untraced wall, with the wall's interval."""
    wall = untraced_ns(side, group, phase)
    if wall is None or group is None or wall.median is None:
        return None
    busy, bound = group.metrics["busy_ns"].median, group.metrics["busy_ns"].bound
    if busy is None:
        return None
    low, high = (_idle_of(busy, ns) for ns in (wall.ci_low, wall.ci_high))
    value = 1 - busy / wall.median
    if value < 0:  # the traced work takes longer than the untraced step: not to be stood behind
        return Stat(None, None, None, None, None, None, wall.n)
    opposite: dict[Bound | None, Bound] = {"lower": "upper", "upper": "lower"}
    return Stat(value, None, None, None, low, high, wall.n, bound=opposite.get(bound))


def _idle_of(busy_ns: float, wall_ns: float | None) -> float | None:
    """The end of an interval of idle: few processes bound a time by 0, and idle then by nothing."""
    if wall_ns is None:
        return None
    return max(0.0, 1 - busy_ns / wall_ns) if wall_ns else 0.0


def _fact(side: SideInput, metric: Metric) -> Stat | None:
    value = getattr(side.facts, metric.name)
    if value is None and side.facts.untraced and metric.spent_if:
        value = 0 if getattr(side.facts, metric.spent_if) is False else None
    return None if value is None else _point(value, 1)


def _point(value: float | int, n: int) -> Stat:
    """One value, which has no interval."""
    return Stat(value, None, None, None, None, None, n)
