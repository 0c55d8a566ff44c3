"""Which side of a comparison is the fastest, and the order that several sides stand in."""

from __future__ import annotations

from launchlens.catalogue import of_role
from launchlens.records.comparison import Cell, Comparison, PhaseComparison, Row, Side


def ranked(comparison: Comparison, phase: PhaseComparison, metric: str | None = None) -> list[int]:
    """Numbers of the sides, the best first; those of which the figure is not known come last.

    By the time of the step without a profiler, else traced, never one beside the other; or by
    another metric, the smaller value first where neither direction is better.
    """
    row = _row_of(phase, metric) if metric else step_row(comparison, phase)
    values = [_known(cell) for cell in row.cells] if row else [None] * len(comparison.sides)
    sign = -1 if row and row.direction > 0 else 1
    return sorted(range(len(values)), key=lambda i: (values[i] is None, sign * (values[i] or 0), i))


def fastest(comparison: Comparison) -> int | None:
    """The candidate with the shortest step, if that is shorter than the baseline's.

    One that computes something else is none.
    """
    if not comparison.phases or len(comparison.sides) < 2:
        return None
    phase = comparison.phases[0]
    row = step_row(comparison, phase)
    if row is None or _known(row.cells[0]) is None:
        return None
    right = [i for i in ranked(comparison, phase) if not is_wrong(comparison.sides[i])]
    return next(iter(right), None) or None


def step_row(comparison: Comparison, phase: PhaseComparison) -> Row | None:
    """The time of the step that every side has which did not fail, else that any side has."""
    found = (_row_of(phase, metric.name) for metric in of_role("step"))
    rows = [row for row in found if row and any(_known(cell) is not None for cell in row.cells)]
    ran = [i for i, side in enumerate(comparison.sides) if not side.facts.failure]
    whole = (row for row in rows if all(_known(row.cells[i]) is not None for i in ran))
    return next(whole, None) or next(iter(rows), None)


def is_wrong(side: Side) -> bool:
    """Whether it is known to compute something else than the baseline, or its replays do."""
    wrong = any(finding.replays_wrong for finding in side.findings)
    return wrong or any(outputs.is_wrong for outputs in side.facts.equivalence)


def _row_of(phase: PhaseComparison, metric: str) -> Row | None:
    return next((row for row in phase.rows if row.metric == metric), None)


def _known(cell: Cell) -> float | None:
    """The figure; a bound ranks nothing."""
    return None if cell.bound else cell.value
