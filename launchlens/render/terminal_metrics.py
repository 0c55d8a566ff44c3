"""The metrics of a comparison as a table for the terminal, whatever the sides and the width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from launchlens.records.comparison import Comparison, PhaseComparison, Row
from launchlens.render.format import (
    format_brief_change,
    format_cell,
    format_change,
    format_verdict,
    plain,
)
from launchlens.render.terminal_tables import fits, new_table

_COLOURS = {"better": "green", "worse": "red", "inconclusive": "yellow", "unknown": "yellow"}
_TWO = 2
_LONGEST_SIDE = 30
_MANY = 4  # sides: their changes and verdicts would fill screens


def metric_parts(
    comparison: Comparison, phase: PhaseComparison, *, verbose: bool, width: int
) -> list[RenderableType]:
    """A phase's metrics, with what is worse or inconclusive in words, and the rows' notes.

    A line for each metric if it fits, else a line for each of many sides, else a block of lines for
    each metric: no number and no side is left out.
    """
    rows = shown_rows(phase, verbose=verbose)
    table = _metric_table(comparison, rows, width=width)
    parts: list[RenderableType] = (
        [table]
        if fits(table, width)
        else _turned_tables(comparison, rows, width=width) or _metric_lines(comparison, rows)
    )
    if len(comparison.sides) > _TWO:
        parts += _losers(comparison, rows)
    return parts + _row_notes(rows, verbose=verbose)


def shown_rows(phase: PhaseComparison, *, verbose: bool) -> list[Row]:
    """Rows worth showing: all that say something; only the headline ones without ``verbose``.

    Where no window is known (nothing ran on a GPU) the range on the CPU stands in for it.
    """
    saying = [row for row in phase.rows if any(cell.value not in (0, None) for cell in row.cells)]
    headline = {"launches", *(row.metric for row in saying if row.headline)}
    if "window_ns" not in headline:
        headline.add("cpu_ns")
    shown = {row.metric for row in saying} | {"launches"} if verbose else headline
    return [row for row in phase.rows if row.metric in shown]


def _metric_table(comparison: Comparison, rows: Sequence[Row], *, width: int) -> Table:
    names = [side.short for side in comparison.sides]
    if len(names) == 2:
        table = new_table("metric", *names, "change", "verdict")
        table.columns[-1].justify = "left"
        for row in rows:
            cell = row.cells[1]
            table.add_row(
                Text(row.title),
                *(format_cell(row, c) for c in row.cells),
                format_change(row, cell),
                Text(format_verdict(cell.verdict), style=_COLOURS.get(cell.verdict, "")),
            )
        return table
    table = new_table("metric", *names)
    wide = width >= 24 + 30 * len(names)
    for row in rows:
        cells = [Text(format_cell(row, row.cells[0]))]
        for cell in row.cells[1:]:
            change = format_change(row, cell)
            said = format_cell(row, cell) + (f"  {change}" if wide and change else "")
            cells.append(Text(said, style=_COLOURS.get(cell.verdict, "")))
        table.add_row(Text(row.title), *cells)
    return table


def _turned_tables(
    comparison: Comparison, rows: Sequence[Row], *, width: int
) -> list[RenderableType]:
    """Many sides: a line for each, in as many tables as it needs. Few, or too narrow: none."""
    tables: list[RenderableType] = []
    if len(comparison.sides) < _MANY or not fits(_turned(comparison, rows[:2]), width):
        return []
    while rows:
        taken = len(rows)
        while taken > 1 and not fits(_turned(comparison, rows[:taken]), width):
            taken -= 1
        tables += ["", _turned(comparison, rows[:taken])]
        rows = rows[taken:]
    return tables[1:]


def _turned(comparison: Comparison, rows: Sequence[Row]) -> Table:
    table = new_table("variant", *(row.title for row in rows))
    table.columns[0].no_wrap = max(len(s.short) for s in comparison.sides) <= _LONGEST_SIDE
    for column, row in zip(table.columns[1:], rows, strict=True):
        column.header = Text(_two_lines(row.title))
    for index, side in enumerate(comparison.sides):
        cells = [
            Text(
                format_cell(row, row.cells[index]), style=_COLOURS.get(row.cells[index].verdict, "")
            )
            for row in rows
        ]
        table.add_row(Text(plain(side.short)), *cells)
    return table


def _two_lines(title: str) -> str:
    """A title broken where its lines are most alike."""
    breaks = [i for i, c in enumerate(title) if c == " "]
    if not breaks:
        return title
    middle = min(breaks, key=lambda i: max(i, len(title) - i - 1))
    return f"{title[:middle]}\n{title[middle + 1 :]}"


def _metric_lines(comparison: Comparison, rows: Sequence[Row]) -> list[RenderableType]:
    """The metric table for terminals too narrow for it: a block of lines for each metric."""
    lines: list[RenderableType] = []
    for row in rows:
        lines.append(Text(row.title, style="bold"))
        for side, cell in zip(comparison.sides, row.cells, strict=True):
            words = [format_cell(row, cell), format_change(row, cell), format_verdict(cell.verdict)]
            said = ", ".join(word for word in words if word)
            style = _COLOURS.get(cell.verdict, "")
            lines.append(Text(f"  {plain(side.short)}: {said}", style=style))
    return lines


def _losers(comparison: Comparison, rows: Sequence[Row]) -> Iterable[RenderableType]:
    """What is worse or inconclusive, in words: tables of several candidates tell it by colour."""
    for verdict in ("worse", "inconclusive"):
        for row in rows:
            who = [
                f"{plain(side.short)} {format_brief_change(row, cell)}".strip()
                for side, cell in zip(comparison.sides, row.cells, strict=True)
                if cell.verdict == verdict
            ]
            if who and row.headline:
                told = f"* {row.title}, {verdict}: {', '.join(who)}"
                yield Text(told, style=_COLOURS[verdict])


def _row_notes(rows: Sequence[Row], *, verbose: bool) -> list[RenderableType]:
    notes: dict[str, list[str]] = {}
    for row in rows:
        if row.note and (verbose or row.headline):
            notes.setdefault(row.note, []).append(row.title)
    return [Text(f"* {', '.join(titles)}: {note}", style="dim") for note, titles in notes.items()]
