"""Tables of a document as the page shows them: on a phone every row becomes a block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from launchlens.render.html.views import CellView, Head, RowView, TableView
from launchlens.report import changes, words
from launchlens.report.cells import Cell, Interval, Judged, Name, Value
from launchlens.report.document import Column, Course, Row, Table

#: With more candidates than this, value, change and verdict share one column.
_SEPARATE_COLUMNS = 2

_CHIPS = {"better": "better", "worse": "worse", "same": "flat", "inconclusive": "flat"}


def table_views(table: Table, heading: str) -> list[TableView]:
    """A table; of one that compares sides, the rows that short reports leave out are folded.

    The caption does not repeat the ``heading`` above.
    """
    caption = table.caption or (table.title if table.title != heading else "")
    long = table.most is not None and len(table.rows) > table.most
    name = table.title or table.caption or (table.columns[0].title if table.columns else "")
    folded = capitalized(name) if long or table.prominence == "more" else ""
    if table.form != "sides":
        metrics = table.form == "figures"
        headers = (_heads(table.columns),)
        rows = tuple(_row(row, table.columns, metrics=metrics) for row in table.rows)
        return [TableView(caption or capitalized(name), headers, rows, folded=folded)]
    names = [column.title for column in table.columns[1:]]
    main = [row for row in table.rows if row.prominence == "main"]
    rest = [row for row in table.rows if row.prominence != "main"]
    views = [_sides(main, names, caption or capitalized(name), folded)] if main else []
    if rest:
        title = f"All other figures ({len(rest)})" if main else capitalized(name)
        views.append(_sides(rest, names, title, title))
    return views


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
    style = "name" if isinstance(first, Name) else ""
    return RowView(title, cells, row.note or "", style)


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
    """A value; below it its remark, its interval, and where it was not traced its source."""
    value = judged.value
    notes = [judged.note]
    if value.number is not None and value.low != value.high:
        notes.append(words.interval(value))
    if value.number is not None and judged.source != "trace":
        notes.append(judged.source)
    if value.number is None:
        style = f"{style} unknown".strip()
    return CellView(words.value(value), label, style, "", _listed(notes))


def _sides(rows: Sequence[Row], names: Sequence[str], caption: str, folded: str) -> TableView:
    """Metric, baseline, and for each candidate its value, change and verdict."""
    separate = len(names) - 1 <= _SEPARATE_COLUMNS
    views = _notes_once([_side_row(row, names, separate=separate) for row in rows])
    return TableView(caption, _side_heads(names, separate=separate), views, folded=folded)


def _side_heads(names: Sequence[str], *, separate: bool) -> tuple[tuple[Head, ...], ...]:
    first, baseline = Head("Metric", style="text"), Head(f"Baseline: {names[0]}")
    if len(names) == 2:
        return ((first, baseline, Head(names[1]), Head("Change"), Head("Verdict", style="text")),)
    if not separate:
        return ((first, baseline, *(Head(name) for name in names[1:])),)
    top = [replace(first, rows=2), replace(baseline, rows=2)]
    top += [Head(name, span=3, style="group") for name in names[1:]]
    below = (Head("Value"), Head("Change"), Head("Verdict", style="text")) * (len(names) - 1)
    return (tuple(top), below)


def _side_row(row: Row, names: Sequence[str], *, separate: bool) -> RowView:
    title, *figures = row.cells
    judged = [cell for cell in figures if isinstance(cell, Judged)]
    cells = [_figure(judged[0], f"Baseline: {names[0]}", "start")]
    for name, one in zip(names[1:], judged[1:], strict=True):
        view, change, verdict = _figure(one, name), changes.change(one), words.verdict(one.verdict)
        if separate:
            chip = _CHIPS.get(one.verdict, "")
            cells += [view, CellView(change, "Change", "wrap")]
            cells.append(CellView(verdict, "Verdict", "text", chip))
        else:
            cells.append(replace(view, note=_listed((change, verdict, view.note))))
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
