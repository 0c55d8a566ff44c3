"""Tables for the terminal that never cut a number: they fold names, or leave out last columns."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from launchlens.report.words import clean, plain

NARROWEST = 40
_LEAST_NAME = 12
_LEAST_NUMBER = 6
_BETWEEN = 2  # rich counts it for the last column too


def new_table(*headers: str, numbers_from: int = 1, title: str | None = None) -> Table:
    """A plain table whose first columns hold text and the others numbers."""
    table = Table(box=None, pad_edge=False, title=title, title_justify="left", header_style="bold")
    table.title_style = "bold"
    for i, header in enumerate(headers):
        is_number = i >= numbers_from
        table.add_column(
            Text(plain(header, 60)),
            justify="right" if is_number else "left",
            overflow="fold",
            min_width=_LEAST_NUMBER if is_number else _LEAST_NAME,
        )
    return table


def fits(table: Table, width: int) -> bool:
    """Whether the table needs no more columns than the terminal has to keep its numbers whole."""
    least = sum(_least_width(column, i) for i, column in enumerate(table.columns))
    return least + _BETWEEN * len(table.columns) <= width


def fits_unfolded(table: Table, width: int) -> bool:
    """Whether no column has to fold for the table to fit."""
    widths = (_widest(column) for column in table.columns)
    return sum(widths) + _BETWEEN * len(table.columns) <= width


def table_or_lines(table: Table, width: int, *, names: int = 1) -> RenderableType:
    """The table of texts, or where it does not fit a line of words for each row.

    No column is lost. The first ``names`` columns name a row.
    """
    if fits(table, width):
        return table
    headers = [_plain(column.header) for column in table.columns]
    lines = [Text(headers[0], style="bold")] if names == 1 else []
    for row in zip(*(column.cells for column in table.columns), strict=True):
        cells = [_plain(cell) for cell in row]
        called = cells[:1]
        if names > 1:
            called = [f"{h} {c}" for h, c in zip(headers, cells[:names], strict=False)]
        told = [f"{h} {c}" for h, c in zip(headers[names:], cells[names:], strict=True) if c]
        lines.append(Text(f"{', '.join(called)}: {', '.join(told)}"))
    return Group(*lines)


def keep_whole(table: Table, columns: Sequence[int], width: int) -> None:
    """Never fold columns of names that are copied, and of short words; rather leave out the last.

    Where not even that is enough, all but the first may fold: numbers matter more.
    """
    for number in columns:
        column = table.columns[number]
        column.no_wrap = True
        column.min_width = _least_width(column, number)
    while len(table.columns) - 1 in columns and not fits(table, width):
        table.columns.pop()
    if not fits(table, width):
        for column in table.columns[1:]:
            if column.no_wrap:
                column.no_wrap, column.min_width = False, _LEAST_NAME


def _plain(cell: RenderableType) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)


def to_text(parts: Sequence[RenderableType], *, width: int, color: bool = False) -> str:
    """Render parts as text of at most ``width`` columns, with colour codes or without.

    Tables that do not fit lose their last columns; what must stay has to stand first.
    """
    width = max(width, NARROWEST)
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for part in parts:
        if isinstance(part, Table):
            _fit(part, width)
    console.print(_Clean(parts), crop=False)  # commands are longer than any line
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()).rstrip() + "\n"


class _Clean:
    """Parts without control characters, whatever they hold; the console's own colours stay."""

    def __init__(self, parts: Sequence[RenderableType]) -> None:
        self._parts = parts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(Group(*self._parts), options):
            lines = map(clean, segment.text.split("\n"))
            yield Segment("\n".join(lines), segment.style, segment.control)


def _fit(table: Table, width: int) -> None:
    while len(table.columns) > 2 and not fits(table, width):
        table.columns.pop()
    if fits(table, width):
        for i, column in enumerate(table.columns):
            column.no_wrap = not _folds(column, i)


def _folds(column: Column, index: int) -> bool:
    """Names and texts may fold; numbers may not, nor the words of a last column beside them."""
    if column.no_wrap:  # asked for: a name that is copied, a word
        return False
    return index == 0 or (column.min_width or 0) >= _LEAST_NAME


def _least_width(column: Column, index: int) -> int:
    return max(column.min_width or 0, 0 if _folds(column, index) else _widest(column))


def _widest(column: Column) -> int:
    texts = (_plain(cell) for cell in (column.header, *column.cells))
    return max(cell_len(line) for text in texts for line in text.split("\n"))
