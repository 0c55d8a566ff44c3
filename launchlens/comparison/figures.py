"""One metric of one side: from the trace, from the whole-graph trace, or untraced."""

from __future__ import annotations

from collections.abc import Callable

from launchlens.catalogue import by_name
from launchlens.comparison.sides import timing_group
from launchlens.records.comparison import SideInput
from launchlens.records.figures import Group, Phase, Stat
from launchlens.records.metric import Metric


def figure_of(
    side: SideInput, group: Group | None, phase: Phase, metric: Metric
) -> tuple[Stat | None, str]:
    """A side's figure and where it comes from: "trace", "graph trace" or "untraced"."""
    derived = _DERIVED.get(metric.name)
    if derived is not None:
        return derived(side, group, phase), "untraced"
    if group is None:
        return None, "trace"
    if metric.timed:
        timing = timing_group(side, group)
        if timing is not None and timing.metrics[metric.name].median is not None:
            return timing.metrics[metric.name], "graph trace"
    return group.metrics.get(metric.name), "trace"


def _untraced(side: SideInput, _group: Group | None, phase: Phase) -> Stat | None:
    return next((u.wall_ns for u in side.facts.untraced if u.phase == phase), None)


def _inflation(side: SideInput, group: Group | None, phase: Phase) -> Stat | None:
    """Traced window over untraced wall, less one."""
    wall = _untraced(side, group, phase)
    if wall is None or group is None:
        return None
    window = figure_of(side, group, phase, by_name()["window_ns"])[0]
    if wall.median is None or window is None or window.median is None:
        return None
    return _point(window.median / wall.median - 1, wall.n)


def _idle_corrected(side: SideInput, group: Group | None, phase: Phase) -> Stat | None:
    """1 - busy / untraced wall, with the wall's interval."""
    wall = _untraced(side, group, phase)
    if wall is None or group is None or wall.median is None:
        return None
    busy = group.metrics["busy_ns"].median
    if busy is None:
        return None
    low, high = (
        (None, None)
        if wall.ci_low is None or wall.ci_high is None
        else (max(0.0, 1 - busy / wall.ci_low), max(0.0, 1 - busy / wall.ci_high))
    )
    value = 1 - busy / wall.median
    if value < 0:  # the traced work takes longer than the untraced step: not to be stood behind
        return Stat(None, None, None, None, None, None, wall.n)
    return Stat(value, None, None, None, low, high, wall.n)


# Variants that capture nothing, and so spend neither memory nor time on it.
_NONE = {"graph_memory_bytes": ("eager", "compile"), "capture_ns": ("eager",)}


def _constant(name: str) -> Callable[[SideInput, Group | None, Phase], Stat | None]:
    def read(side: SideInput, _group: Group | None, _phase: Phase) -> Stat | None:
        value = getattr(side.facts, name)
        if value is None and side.facts.untraced and side.facts.variant in _NONE.get(name, ()):
            value = 0
        return None if value is None else _point(value, 1)

    return read


def _point(value: float | int, n: int) -> Stat:
    return Stat(value, None, None, None, value, value, n)


_DERIVED: dict[str, Callable[[SideInput, Group | None, Phase], Stat | None]] = {
    "untraced_ns": _untraced,
    "inflation": _inflation,
    "idle_corrected": _idle_corrected,
    "peak_memory_bytes": _constant("peak_memory_bytes"),
    "graph_memory_bytes": _constant("graph_memory_bytes"),
    "capture_ns": _constant("capture_ns"),
}
