"""Metrics of several sides as a table, whatever their number and the width of the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table as Grid
from rich.text import Text

from launchlens.plural import counted
from launchlens.render.terminal.tables import fits, new_table, table_or_lines
from launchlens.report import changes, words
from launchlens.report.cells import Judged
from launchlens.report.document import Row, Table

_COLOURS = {"better": "green", "worse": "red", "inconclusive": "yellow", "unknown": "yellow"}
_TWO = 2
_LONGEST_SIDE = 30


def metric_parts(table: Table, *, verbose: bool, width: int) -> list[RenderableType]:
    """The metrics, with what is worse or inconclusive in words, and the rows' notes.

    Of two sides a line for each metric; of several a line for each side, the best first, in one
    table of what fits, or with ``verbose`` in as many as it takes. Where not even that fits a block
    of lines for each metric.
    """
    names = [column.title for column in table.columns[1:]]
    rows = shown_rows(table, verbose=verbose)
    if len(names) > _TWO:
        return _several(table, names, rows, verbose=verbose, width=width)
    grid = _metric_table(names, rows)
    parts: list[RenderableType] = [grid] if fits(grid, width) else _metric_lines(names, rows)
    return parts + _row_notes(rows)


def _several(
    table: Table, names: Sequence[str], rows: Sequence[Row], *, verbose: bool, width: int
) -> list[RenderableType]:
    """Several sides in the table's order: the metrics of a short table first."""
    order = table.order or range(len(names))
    ranked = sorted(rows, key=lambda row: (row.brief is None, row.brief or 0))
    grids, left = _turned_tables(names, ranked, order, verbose=verbose, width=width)
    shown = [row for row in ranked if row not in left]
    if not grids:
        return [*_metric_lines(names, rows), *_losers(names, rows), *_row_notes(rows)]
    if left:
        more = counted(len(left), "further metric")
        grids.append(Text(f"* {more} with -v", style="dim"))
    return [*grids, *_losers(names, shown), *_row_notes(shown)]


def interval_parts(table: Table, *, width: int) -> list[RenderableType]:
    """The 95% intervals of times and fractions; counts hardly vary."""
    names = [column.title for column in table.columns[1:]]
    grid = new_table("95% interval of the median", *names)
    for row in shown_rows(table, verbose=True):
        figures = [judged.value for judged in judged_cells(row)]
        if figures[0].unit in ("ns", "fraction"):
            grid.add_row(title_of(row), *map(words.interval, figures))
    return [table_or_lines(grid, width)]


def shown_rows(table: Table, *, verbose: bool) -> list[Row]:
    """The rows that reports lead with; with ``verbose`` all that say something."""
    shown = ("main", "more") if verbose else ("main",)
    return [row for row in table.rows if row.prominence in shown]


def judged_cells(row: Row) -> list[Judged]:
    """A row's figures, the baseline's first."""
    return [cell for cell in row.cells if isinstance(cell, Judged)]


def title_of(row: Row) -> str:
    """What the row is of."""
    return words.cell(row.cells[0])


def _metric_table(names: Sequence[str], rows: Sequence[Row]) -> Grid:
    compared = len(names) == _TWO
    grid = new_table("metric", *names, *(("change", "verdict") if compared else ()))
    if compared:
        grid.columns[-1].justify = "left"
    for row in rows:
        cells = judged_cells(row)
        told = [Text(title_of(row)), *(Text(words.cell(cell)) for cell in cells)]
        if compared:
            last = cells[-1]
            told += [
                Text(changes.change(last)),
                Text(words.verdict(last.verdict), style=_style(last)),
            ]
        grid.add_row(*told)
    return grid


def _style(cell: Judged) -> str:
    return _COLOURS.get(cell.verdict, "")


def _turned_tables(
    names: Sequence[str],
    rows: Sequence[Row],
    order: Sequence[int],
    *,
    verbose: bool,
    width: int,
) -> tuple[list[RenderableType], list[Row]]:
    """A line for each side, in one table or with ``verbose`` in as many as it needs.

    With them the rows that none has; no table where it is too narrow for one.
    """
    grids: list[RenderableType] = []
    left = list(rows)
    while left and (verbose or not grids):
        taken = len(left)
        while taken and not fits(_turned(names, left[:taken], order), width):
            taken -= 1
        if not taken:
            break
        grids += ["", _turned(names, left[:taken], order)]
        left = left[taken:]
    return grids[1:], left


def _turned(names: Sequence[str], rows: Sequence[Row], order: Sequence[int]) -> Grid:
    """Sides as lines. Beside the first metric stands its change; others tell theirs by colour."""
    first = rows[0]
    changed = [changes.brief_change(cell) for cell in judged_cells(first)]
    grid = new_table("variant", *(title_of(row) for row in rows))
    grid.columns[0].no_wrap = max(len(name) for name in names) <= _LONGEST_SIDE
    for column, row in zip(grid.columns[1:], rows, strict=True):
        column.header = Text(_two_lines(title_of(row)))
    for index in order:
        cells = [judged_cells(row)[index] for row in rows]
        texts = [Text(words.cell(cell), style=_style(cell)) for cell in cells]
        if changed[index] and first.brief == 0:
            texts[0].append(f", {changed[index]}")
        grid.add_row(Text(words.plain(names[index])), *texts)
    return grid


def _two_lines(title: str) -> str:
    """A title broken where its lines are most alike."""
    breaks = [i for i, c in enumerate(title) if c == " "]
    if not breaks:
        return title
    middle = min(breaks, key=lambda i: max(i, len(title) - i - 1))
    return f"{title[:middle]}\n{title[middle + 1 :]}"


def _metric_lines(names: Sequence[str], rows: Sequence[Row]) -> list[RenderableType]:
    """The metric table for terminals too narrow for it: a block of lines for each metric."""
    lines: list[RenderableType] = []
    for row in rows:
        lines.append(Text(title_of(row), style="bold"))
        for name, cell in zip(names, judged_cells(row), strict=True):
            terms = [words.cell(cell), changes.change(cell), words.verdict(cell.verdict)]
            said = ", ".join(term for term in terms if term)
            lines.append(Text(f"  {words.plain(name)}: {said}", style=_style(cell)))
    return lines


def _losers(names: Sequence[str], rows: Sequence[Row]) -> Iterator[RenderableType]:
    """What is worse or inconclusive, in words: tables of several candidates tell it by colour."""
    for verdict in ("worse", "inconclusive"):
        for row in rows:
            who = [
                f"{words.plain(name)} {changes.brief_change(cell)}".strip()
                for name, cell in zip(names, judged_cells(row), strict=True)
                if cell.verdict == verdict
            ]
            if who and row.prominence == "main":
                told = f"* {title_of(row)}, {verdict}: {', '.join(who)}"
                yield Text(told, style=_COLOURS[verdict])


def _row_notes(rows: Sequence[Row]) -> list[RenderableType]:
    notes: dict[str, list[str]] = {}
    for row in rows:
        if row.note:
            notes.setdefault(row.note, []).append(title_of(row))
    return [
        Text(f"* {', '.join(titles)}: {words.plain(note, words.LONG)}", style="dim")
        for note, titles in notes.items()
    ]
