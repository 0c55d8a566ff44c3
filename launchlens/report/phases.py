"""Which phases of a comparison are compared, and what is said of those that one side lacks."""

from __future__ import annotations

from collections.abc import Iterator

from launchlens.catalogue import of_role
from launchlens.plural import counted
from launchlens.records.comparison import Comparison, PhaseComparison
from launchlens.report.side_cells import phase_title, row_of
from launchlens.report.words import plain


def compared_phases(comparison: Comparison) -> tuple[PhaseComparison, ...]:
    """The phases that the baseline and a candidate have; all of a side alone, or of failed ones."""
    if not comparison.candidates:
        return comparison.phases
    return tuple(phase for phase in comparison.phases if not _lacking(comparison, phase))


def lacking_phases(comparison: Comparison) -> Iterator[str]:
    """A sentence for each phase that is left out, since only one side has it."""
    for phase in comparison.phases:
        if comparison.candidates and _lacking(comparison, phase):
            has = _having(phase)
            who = [
                f"{plain(side.short)} ({counted(n, 'step')})"
                for side, n, having in zip(comparison.sides, phase.steps, has, strict=True)
                if having
            ]
            named = phase_title(comparison, phase)
            yield f"{named}: only {' and '.join(who)} has such steps, so they are not compared."


def _lacking(comparison: Comparison, phase: PhaseComparison) -> bool:
    """Whether nothing can be compared, though no candidate failed."""
    baseline, *candidates = _having(phase)
    failed = any(side.facts.failure for side in comparison.sides)
    return not failed and not (baseline and any(candidates))


def _having(phase: PhaseComparison) -> list[bool]:
    """Whether each side has steps of the phase, traced or timed without a profiler."""
    rows = [row for m in of_role("step") if (row := row_of(phase, m.name))]
    return [
        steps > 0 or any(row.cells[i].value is not None for row in rows)
        for i, steps in enumerate(phase.steps)
    ]
