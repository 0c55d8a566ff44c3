"""The rows of data of a report: flat objects in base units, for spreadsheets and data frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from launchlens.catalogue import GAPS, gap_causes
from launchlens.records.comparison import Cell, Comparison
from launchlens.records.figures import Analysis

_CELL = ("value", "ci_low", "ci_high", "n", "change", "relative", "verdict", "source")


def comparison_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """A row for each phase, metric and side, with changes and verdicts."""
    for phase in comparison.phases:
        for row in phase.rows:
            for place, (side, cell) in enumerate(zip(comparison.sides, row.cells, strict=True)):
                figures = asdict(cell)
                if cell.bound:  # how far the true value may lie on the other side is unknown
                    figures["ci_high" if cell.bound == "lower" else "ci_low"] = None
                yield {
                    "phase": phase.phase,
                    "group": phase.groups[place],
                    "metric": row.metric,
                    "title": row.title,
                    "unit": row.unit,
                    "side": side.label,
                    "is_baseline": place == 0,
                    **{name: figures[name] for name in _CELL},
                    "note": "; ".join(_remarks(cell)) or None,
                    "threshold": row.threshold,
                    "direction": row.direction,
                }


def _remarks(cell: Cell) -> Iterator[str]:
    if cell.bound:
        yield f"{cell.bound} bound"
    if cell.change_bound:
        yield f"change: {cell.change_bound} bound"
    if cell.note:
        yield cell.note


def step_rows(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """A row for each step, every figure a column (gaps as ``gaps_ns.host``).

    ``bounds`` names the figures that are only bounds: "busy_ns lower, idle upper".
    """
    for step in analysis.steps:
        row = asdict(step)
        gaps = row.pop(GAPS) or {}
        reason, bounds = row.pop("unknown_reason"), row.pop("bounds")
        said = ", ".join(f"{name} {bound}" for name, bound in bounds.items()) or None
        row |= {f"{GAPS}.{cause}": gaps.get(cause) for cause in gap_causes()}
        yield row | {"unknown_reason": reason, "bounds": said}
