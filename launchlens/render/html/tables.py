"""Tables of a document as the page shows them: on a phone every row becomes a block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from launchlens.render.html.palette import colour
from launchlens.render.html.views import CellView, Head, RowView, TableView
from launchlens.report import changes, words
from launchlens.report.cells import Cell, Interval, Judged, Name, Value
from launchlens.report.document import Column, Course, Row, Table

#: With more candidates than this, value, change and verdict share one column.
_SEPARATE_COLUMNS = 2

CHIPS = {"better": "better", "worse": "worse", "same": "flat", "inconclusive": "flat"}

_PLAIN = ("better", "same", "unknown")
"""Verdicts that a change and its colour tell, where columns are narrow."""
_Side = tuple[int, str]
"""Number and name of a side."""


def table_views(table: Table, heading: str, fastest: int | None = None) -> list[TableView]:
    """A table; of one that compares sides, the rows that short reports leave out are folded.

    The caption does not repeat the ``heading`` above. ``fastest`` is the number of the side whose
    column is marked, where there are several candidates.
    """
    caption = table.caption or (table.title if table.title != heading else "")
    long = table.most is not None and len(table.rows) > table.most
    name = table.title or table.caption or (table.columns[0].title if table.columns else "")
    folded = capitalized(name) if long or table.prominence == "more" else ""
    title = caption or capitalized(name)
    if table.form == "rows":
        return [_plain(table, table.rows, title, folded)]
    main = tuple(row for row in table.rows if row.prominence == "main")
    rest = tuple(row for row in table.rows if row.prominence != "main")
    others = f"All other figures ({len(rest)})" if main else capitalized(name)
    split = [part for part in ((main, title, folded), (rest, others, others)) if part[0]]
    if table.form == "figures":
        return [_plain(table, *part, metrics=True) for part in split]
    names = [column.title for column in table.columns[1:]]
    fastest = fastest if len(names) > 2 else None
    # The baseline, which the others are compared with, stays beside the metrics.
    ranked = [i for i in table.order or range(len(names)) if i]
    return [_sides(*part, [(i, names[i]) for i in (0, *ranked)], fastest) for part in split]


def _plain(
    table: Table, rows: Sequence[Row], caption: str, folded: str, *, metrics: bool = False
) -> TableView:
    views = tuple(_row(row, table.columns, metrics=metrics) for row in rows)
    return TableView(caption, (_heads(table.columns),), views, folded=folded)


def capitalized(title: str) -> str:
    """A title that begins a cell or sentence: its first letter large, the others as they are."""
    return title[:1].upper() + title[1:]


def course_view(course: Course) -> TableView:
    """A figure over runs as a table, for a section that has no chart of it."""
    columns = (Column("Run", "text"), Column("Commit", "text"), Column("Value"), Column("Change"))
    rows = tuple(
        _row(Row((point.day, point.commit, point.value, point.change)), columns)
        for point in course.points
    )
    return TableView(f"{course.title}: {course.said}", (_heads(columns),), rows)


def _heads(columns: Sequence[Column]) -> tuple[Head, ...]:
    """Titles begin with a capital letter, but for symbols (p10) and what begins with a name."""
    titles = (
        capitalized(c.title) if c.title[1:2].islower() and ":" not in c.title else c.title
        for c in columns
    )
    return tuple(
        Head(title, style="" if i and column.kind == "number" else "text")
        for i, (title, column) in enumerate(zip(titles, columns, strict=True))
    )


def _row(row: Row, columns: Sequence[Column], *, metrics: bool = False) -> RowView:
    first = row.cells[0]
    title = capitalized(_text(first)) if metrics else _text(first)
    cells = tuple(
        _cell(cell, column) for cell, column in zip(row.cells[1:], columns[1:], strict=True)
    )
    if isinstance(first, Name):
        return RowView(title, cells, row.note or "", "name", first.full)
    return RowView(title, cells, row.note or "")


def _text(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Name):
        return cell.text
    if isinstance(cell, Interval):
        return "" if cell.low == cell.high else words.interval(cell)
    return words.value(cell.value if isinstance(cell, Judged) else cell)


def _cell(cell: Cell, column: Column) -> CellView:
    if isinstance(cell, Value | Judged):
        return _figure(cell if isinstance(cell, Judged) else Judged(cell), column.title)
    style = "name text" if isinstance(cell, Name) else "" if column.kind == "number" else "text"
    return CellView(_text(cell), column.title, style)


def _figure(judged: Judged, label: str, style: str = "") -> CellView:
    """A value, below it its remark; its interval and where it is from for those who ask."""
    value, tips = judged.value, []
    if value.number is None:
        style = f"{style} unknown".strip()
    else:
        interval = words.interval(value) if value.low != value.high else ""
        tips = [interval and f"95%: {interval}", judged.source if judged.source != "trace" else ""]
    note = judged.note or ""
    return CellView(words.value(value), label, style, note=note, tip=_listed(tips))


def _sides(
    rows: Sequence[Row], caption: str, folded: str, sides: Sequence[_Side], fastest: int | None
) -> TableView:
    """Metric, baseline, and for each candidate its value, change and verdict."""
    separate = len(sides) - 1 <= _SEPARATE_COLUMNS
    views = _notes_once([_side_row(row, sides, fastest, separate=separate) for row in rows])
    heads = _side_heads(sides, fastest, separate=separate)
    return TableView(caption, heads, views, folded=folded)


def _side_heads(
    sides: Sequence[_Side], fastest: int | None, *, separate: bool
) -> tuple[tuple[Head, ...], ...]:
    marks = ["fastest" if i == fastest else "" for i, _ in sides]
    metric = Head("Metric", style="text")
    heads = [
        Head(name if i else f"Baseline: {name}", style=mark, swatch=colour("side", str(i)))
        for (i, name), mark in zip(sides, marks, strict=True)
    ]
    if len(sides) == 2:
        return ((metric, *heads, Head("Change"), Head("Verdict", style="text")),)
    if not separate:
        return ((metric, *heads),)
    top = [replace(metric, rows=2), replace(heads[0], rows=2)]
    top += [replace(head, span=3, style=f"group {head.style}".strip()) for head in heads[1:]]
    below = [
        Head(title, style=f"{style} {mark}".strip())
        for mark in marks[1:]
        for title, style in (("Value", ""), ("Change", ""), ("Verdict", "text"))
    ]
    return (tuple(top), tuple(below))


def _side_row(row: Row, sides: Sequence[_Side], fastest: int | None, *, separate: bool) -> RowView:
    title, *figures = row.cells
    judged = [cell for cell in figures if isinstance(cell, Judged)]
    cells = [_figure(judged[0], f"Baseline: {sides[0][1]}", "start")]
    for i, name in sides[1:]:
        one = judged[i]
        mark = "fastest" if i == fastest else ""
        view, change = _figure(one, name, mark), changes.change(one)
        chip = CHIPS.get(one.verdict, "")
        if separate:
            cells += [view, CellView(change, "Change", f"wrap {mark}".strip())]
            cells.append(
                CellView(words.verdict(one.verdict), "Verdict", f"text {mark}".strip(), chip)
            )
        else:
            doubt = "" if one.verdict in _PLAIN else words.verdict(one.verdict)
            said = _listed((changes.brief_change(one), doubt, view.note))
            cells.append(replace(view, note=said, tone=chip))
    return RowView(capitalized(_text(title)), tuple(cells), row.note or "")


def _listed(parts: Iterable[str | None]) -> str:
    return ", ".join(part for part in parts if part)


def _notes_once(rows: Sequence[RowView]) -> tuple[RowView, ...]:
    """A note that many rows share stands whole at the first of them."""
    seen: set[str] = set()
    kept = []
    for row in rows:
        repeated = row.note in seen
        if row.note:
            seen.add(row.note)
        kept.append(replace(row, note="the note above holds here too") if repeated else row)
    return tuple(kept)
