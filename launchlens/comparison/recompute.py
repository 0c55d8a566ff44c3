"""A comparison that was read from a file: what follows from its values is worked out again.

The file may come from anyone. Its values, their intervals and bounds are taken as they are;
changes, verdicts, thresholds, and titles of known metrics are not.
"""

from __future__ import annotations

from dataclasses import replace

from launchlens.catalogue import by_name, of_role
from launchlens.comparison.processes import may_be_chance
from launchlens.comparison.rows import judged, threshold_of
from launchlens.errors import LaunchlensError
from launchlens.records.comparison import Cell, Comparison, PhaseComparison, Row
from launchlens.records.metric import Metric


def recompute(comparison: Comparison, *, named: str) -> Comparison:
    """The comparison with changes and verdicts that follow from its values.

    Raises:
        LaunchlensError: ``named`` does not have one value for each side everywhere.
    """
    _check(comparison, named)
    return replace(comparison, phases=tuple(_phase(comparison, p) for p in comparison.phases))


def _check(comparison: Comparison, named: str) -> None:
    """Refuse what does not belong together: values without a side, histograms that differ."""
    held = [(f"difference {d.what:.40}", len(d.values)) for d in comparison.differences]
    for phase in comparison.phases:
        held += [(f"row {row.metric:.40}", len(row.cells)) for row in phase.rows]
        for name in ("groups", "steps", "dropped", "bound"):
            held.append((name, len(getattr(phase, name))))
    sides = len(comparison.sides)
    wrong = [f"{name} has {n} values for {sides} sides" for name, n in held if n != sides]
    if len({len(side.gap_histogram) for side in comparison.sides if side.gap_histogram}) > 1:
        wrong.append("the histograms of gaps have different classes")
    if wrong:
        raise LaunchlensError(
            f"{named} is damaged: {wrong[0]}.",
            hint="Write the report again with launchlens diff --format json.",
        )


def _phase(comparison: Comparison, phase: PhaseComparison) -> PhaseComparison:
    rows = {row.metric: row for row in phase.rows}
    return replace(
        phase, rows=tuple(_row(comparison, phase.phase, rows, row) for row in phase.rows)
    )


def _row(comparison: Comparison, phase: str, rows: dict[str, Row], row: Row) -> Row:
    known = by_name().get(row.metric)
    better = "less" if row.direction < 0 else "more" if row.direction > 0 else None
    metric = known or Metric(row.title, row.unit, better)  # type: ignore[arg-type]
    cells = judged(metric, row.cells)
    if metric.untraced:
        cells = tuple(
            replace(cell, verdict="inconclusive")
            if i
            and cell.verdict in ("better", "worse", "same")
            and _in_doubt(comparison, phase, rows.get(of_role("busy")[0].name), i)
            else cell
            for i, cell in enumerate(cells)
        )
    return replace(
        row,
        cells=cells,
        title=metric.title,
        unit=metric.unit,
        direction=metric.direction,
        headline=known.headline if known else row.headline,
        threshold=threshold_of(metric),
    )


def _in_doubt(comparison: Comparison, phase: str, busy: Row | None, index: int) -> bool:
    """Whether an untraced change may be chance, since one process on a side measured it."""
    pair = (comparison.sides[0], comparison.sides[index])
    before, after = (
        next((u for u in side.facts.untraced if u.phase == phase), None) for side in pair
    )
    if before is None or after is None:
        return False
    worked: list[Cell | None] = [busy.cells[i] if busy else None for i in (0, index)]
    return may_be_chance(before, after, [cell.value if cell else None for cell in worked])
