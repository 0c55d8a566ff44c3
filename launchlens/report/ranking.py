"""Which side of a comparison is the fastest: sides by the time of their step."""

from __future__ import annotations

from launchlens.records.comparison import Comparison, PhaseComparison

_TIMES = ("untraced_ns", "window_ns")
"""What steps are ranked by: without a profiler, else traced; never one beside the other."""


def ranked(comparison: Comparison, phase: PhaseComparison) -> list[int]:
    """Numbers of the sides, the fastest first; those of which the time is not known come last."""
    times = _step_times(comparison, phase)
    return sorted(range(len(times)), key=lambda i: (times[i] is None, times[i] or 0, i))


def fastest(comparison: Comparison) -> int | None:
    """The candidate with the shortest step, if that is shorter than the baseline's."""
    if not comparison.phases or len(comparison.sides) < 2:
        return None
    phase = comparison.phases[0]
    times = _step_times(comparison, phase)
    first = ranked(comparison, phase)[0]
    return first if first and times[0] is not None else None


def _step_times(comparison: Comparison, phase: PhaseComparison) -> list[float | None]:
    """Of the first metric that every side has which did not fail, else which any side has."""
    rows = {row.metric: row.cells for row in phase.rows}
    ran = [i for i, side in enumerate(comparison.sides) if not side.facts.failure]
    measured = [
        [None if cell.bound else cell.value for cell in rows[metric]]
        for metric in _TIMES
        if metric in rows
    ]
    unknown: list[float | None] = [None] * len(comparison.sides)
    known = (times for times in measured if any(t is not None for t in times))
    whole = (times for times in measured if all(times[i] is not None for i in ran))
    return next(whole, None) or next(known, unknown)
