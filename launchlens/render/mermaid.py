"""A Mermaid chart that GitHub draws: where a step's time goes, a section for each side."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from launchlens.render.format import format_cell, plain

if TYPE_CHECKING:
    from launchlens.records.comparison import Cell, Comparison, PhaseComparison, Row

# Order in which the parts are laid end to end; the tag chooses a colour of the theme.
_PARTS = (
    ("gaps_ns.lead_in", "idle, lead-in", "crit"),
    ("gaps_ns.host", "idle, waits for the host", "crit"),
    ("gaps_ns.launch", "idle, launch latency", "crit"),
    ("gaps_ns.sync", "idle, synchronization", "crit"),
    ("gaps_ns.device", "idle, on the device", "done"),
    ("gaps_ns.unlinked", "idle, unlinked", "done"),
    ("busy_ns", "GPU busy", "active"),
    ("gaps_ns.tail", "idle, tail", "done"),
)
_SHORTEST_SHARE = 0.005  # thinner bars cannot be seen
_SIDES = 6


def step_chart(comparison: Comparison) -> str:
    """A gantt chart of the first phase's medians, traced; "" when no side has them.

    The parts are laid end to end, not where they were in the step. A chart's second stands for
    a millisecond, since Mermaid draws nothing shorter than a millisecond.
    """
    if not comparison.phases:
        return ""
    phase = comparison.phases[0]
    rows = {row.metric: row for row in phase.rows}
    longest = max((_length(rows, i) for i in range(len(comparison.sides))), default=0)
    sections = []
    for index, side in enumerate(comparison.sides[:_SIDES]):
        bars = _bars(rows, index, longest * _SHORTEST_SHARE)
        if bars:
            sections.append("\n".join([f"    section {_word(side.short)}", *bars]))
    if not sections:
        return ""
    head = [
        "```mermaid",
        "gantt",
        f"    title One {_kind(phase)}: GPU time in ms (medians, traced, laid end to end)",
        "    dateFormat x",
        "    axisFormat %s",
    ]
    return "\n".join([*head, *sections, "```"])


def _bars(rows: dict[str, Row], index: int, shortest_ns: float) -> list[str]:
    bars, at_us = [], 0
    for metric, title, tag in _PARTS:
        row, cell = rows.get(metric), _cell(rows, metric, index)
        if row is None or cell is None or cell.value is None or cell.value <= 0:
            continue
        if cell.value < shortest_ns:
            continue
        end_us = at_us + max(round(cell.value / 1000), 1)
        bars.append(f"    {title} {format_cell(row, cell)} :{tag}, {at_us}, {end_us}")
        at_us = end_us
    return bars


def _length(rows: dict[str, Row], index: int) -> float:
    cells = [_cell(rows, metric, index) for metric, _, _ in _PARTS]
    return sum(max(cell.value, 0) for cell in cells if cell is not None and cell.value is not None)


def _cell(rows: dict[str, Row], metric: str, index: int) -> Cell | None:
    row = rows.get(metric)
    return None if row is None else row.cells[index]


def _kind(phase: PhaseComparison) -> str:
    return "step" if phase.phase == "unknown" else f"{phase.phase} step"


def _word(text: str) -> str:
    """A side's name without anything that Mermaid reads as its own language."""
    return re.sub(r"[^A-Za-z0-9 ._+-]+", " ", plain(text, 60)).strip() or "side"
