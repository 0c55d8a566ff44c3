"""Cells of a comparison as values of a document, and what its phases are called."""

from __future__ import annotations

from launchlens.catalogue import by_name
from launchlens.records.comparison import Cell, Comparison, PhaseComparison, Row
from launchlens.report.cells import Judged, Value
from launchlens.report.words import joined, step_words


def value_of(row: Row, cell: Cell) -> Value:
    """A side's figure as a value of a document."""
    instead = "failed" if cell.failed else ""
    return Value(cell.value, row.unit, cell.bound, cell.ci_low, cell.ci_high, instead)  # type: ignore[arg-type]


def judged(row: Row, cell: Cell) -> Judged:
    """A side's figure with its change, as a cell of a document."""
    said = (cell.change, cell.relative, cell.verdict, cell.source, cell.note, cell.change_bound)
    metric = by_name().get(row.metric)
    return Judged(value_of(row, cell), *said, speed=metric is not None and metric.speed)


def row_of(phase: PhaseComparison, metric: str) -> Row | None:
    """A metric's row; None where the comparison has none."""
    return next((row for row in phase.rows if row.metric == metric), None)


def phase_title(comparison: Comparison, phase: PhaseComparison) -> str:
    """The phase, with processes and devices where others have its name too."""
    if sum(p.phase == phase.phase for p in comparison.phases) == 1:
        return phase.phase
    return f"{phase.phase} ({joined([g for g in phase.groups if g != '-'] or ['-'])})"


def phase_words(comparison: Comparison, phase: PhaseComparison) -> str:
    """The phase and "step", with process and device where several groups share the phase."""
    words = step_words(phase.phase)
    if sum(other.phase == phase.phase for other in comparison.phases) == 1:
        return words
    return f"{words} ({' / '.join(dict.fromkeys(phase.groups))})"
