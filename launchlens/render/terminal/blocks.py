"""The blocks of a document as parts for the terminal.

Foreign text (kernel names, range texts) is put into `rich.text.Text`, which reads no markup.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch

from rich.console import RenderableType
from rich.text import Text as Line

from launchlens.render.terminal.sides import metric_parts
from launchlens.render.terminal.tables import (
    fits_unfolded,
    keep_whole,
    new_table,
    table_or_lines,
    to_text,
)
from launchlens.render.writer import Manner
from launchlens.report import words
from launchlens.report.document import (
    Below,
    Block,
    Checks,
    Column,
    Course,
    Facts,
    Findings,
    Row,
    Table,
    Text,
)

_CONFIDENCE = {
    "confirmed": "bold red",
    "failed": "bold red",
    "likely": "red",
    "suspected": "yellow",
    "cleared": "green",
}
_TONES = {"answer": "bold", "remark": "dim", "caution": "yellow"}
_VERBOSE_ROWS = 5  # times as many
_LONGEST_NAME = 90
_BARS = "▁▂▃▄▅▆▇█"
_GAP = "·"
_LAST_POINTS = 8
_INDENT = 6
_STATUS = {"ok": "green", "warn": "yellow", "fail": "red", "skip": "cyan"}


@singledispatch
def block_parts(_block: Block, _manner: Manner, *, heading: bool) -> Iterable[RenderableType]:  # noqa: ARG001
    """A block's lines, none where the terminal does not show its kind.

    With ``heading`` a table of sides has its title above it.
    """
    return ()


@block_parts.register
def _table(block: Table, manner: Manner, *, heading: bool) -> Iterator[RenderableType]:
    if block.form == "sides":
        if heading:
            yield Line(words.plain(block.title), style="bold")
        yield from metric_parts(block, verbose=manner.verbose, width=manner.width)
    else:
        yield from _rows(block, manner)


@block_parts.register
def _checks(checks: Checks, manner: Manner, **_: bool) -> list[RenderableType]:
    return [line for item in checks.items for line in _check_lines(item, manner.width)]


def live_check(checks: Checks, *, width: int, color: bool) -> str:
    """Checks as soon as they are done, before there is a report."""
    return to_text(_checks(checks, Manner(width=width)), width=width, color=color)


def _check_lines(item: tuple[str, str, str], width: int) -> Iterator[Line]:
    """A check: its status, what was found, and below what to do about it."""
    status, said, remedy = item
    first = Line(f"{status:<{_INDENT}}", style=_STATUS.get(status, ""))
    yield first.append(_wrapped(said, width), style="not bold default")
    if remedy:
        yield Line(" " * _INDENT + _wrapped(f"→ {remedy}", width))


def _wrapped(text: str, width: int) -> str:
    """Text after the status, later lines below its beginning; paths and commands stay whole."""
    room = max(width, 40) - _INDENT
    cleaned = words.plain(text, 1000)
    lines = textwrap.wrap(cleaned, room, break_long_words=False, break_on_hyphens=False)
    return f"\n{' ' * _INDENT}".join(lines)


def _rows(table: Table, manner: Manner) -> list[RenderableType]:
    places = [i for i, column in enumerate(table.columns) if _is_shown(column, manner)]
    columns = [table.columns[i] for i in places]
    grid = new_table(*(column.title for column in columns), numbers_from=table.names)
    whole = [i for i, column in enumerate(columns) if column.kind == "whole"]
    for i, column in enumerate(columns):
        grid.columns[i].justify = "right" if column.kind == "number" else "left"
        if column.kind == "text" and i >= table.names:
            grid.columns[i].min_width = grid.columns[0].min_width
    rows = [r for r in table.rows if _is_shown(r, manner)]
    most = (table.most or len(rows)) * (_VERBOSE_ROWS if manner.verbose else 1)
    for row in rows[:most]:
        grid.add_row(*(Line(words.cell(row.cells[i], _LONGEST_NAME)) for i in places))
    if not fits_unfolded(grid, manner.width):
        spare = [c for c, told in zip(grid.columns, columns, strict=True) if told.kind == "spare"]
        grid.columns = [column for column in grid.columns if column not in spare]
    if table.rest and len(rows) > most:
        grid.add_row(Line(f"… {len(rows) - most} more: {table.rest}"))
    keep_whole(grid, whole, manner.width)
    said = Line(words.plain(table.title), style="bold")
    title: list[RenderableType] = [said] if table.title else []
    if not rows:
        return title
    return [*title, table_or_lines(grid, manner.width, names=table.names) if table.whole else grid]


def _is_shown(part: Row | Column, manner: Manner) -> bool:
    return part.prominence == "main" or (part.prominence == "more" and manner.verbose)


@block_parts.register
def _findings(findings: Findings, manner: Manner, **_: bool) -> Iterator[RenderableType]:
    brief = findings.brief and not manner.verbose
    if findings.title:
        yield Line(words.plain(findings.title), style="bold")
    for i, item in enumerate(findings.items):
        if i and not findings.brief:
            yield ""
        said = Line(words.plain(item.said, words.LONG), style=_CONFIDENCE.get(item.confidence, ""))
        yield said.append(f" [{words.plain(item.rule)}]", style="dim") if item.rule else said
        for title, text in item.remedies if brief else item.details:
            style = "dim" if brief or (title, text) not in item.remedies else ""
            yield Line(f"  {title}: {words.plain(text, words.LONG)}", style=style)
        if item.stack and not brief:
            stack = words.plain(words.short_stack(item.stack), words.LONG)
            yield Line(f"  stack: {stack}", style="dim")


@block_parts.register
def _facts(facts: Facts, _: Manner, **__: bool) -> list[RenderableType]:
    grid = new_table(facts.title, "", numbers_from=2)
    grid.show_header = bool(facts.title)
    for title, said in facts.entries:
        grid.add_row(Line(words.plain(title)), Line(words.plain(said, 1000)))
    return [grid]


@block_parts.register
def _text(text: Text, _: Manner, **__: bool) -> Iterator[RenderableType]:
    if text.title:
        yield Line(words.plain(text.title), style="bold")
    mark = "! " if text.form == "caution" else ""
    for one in text.lines:
        line, indent = (one.text, "  ") if isinstance(one, Below) else (one, "")
        if text.form == "log":
            yield Line(words.clean(line), no_wrap=True, overflow="ignore")
            continue
        said = words.plain(line, 1000 if text.form == "answer" else 500)
        yield Line(f"{mark}{indent}{said}", style=_TONES.get(text.form, ""))


@block_parts.register
def _course(course: Course, manner: Manner, **_: bool) -> Iterator[RenderableType]:
    width = manner.width
    for line in (course.title, f"  {course.said}"):
        filled = textwrap.fill(line, width, subsequent_indent="  ", break_on_hyphens=False)
        yield Line(filled)
    numbers = [point.value.number for point in course.points]
    yield Line(f"  {sparkline(numbers[-(width - 2) :])}")
    if (hidden := len(numbers) - _LAST_POINTS) > 0:
        yield Line(f"  … {hidden} older")
    for point in course.points[-_LAST_POINTS:]:
        said = f"  {point.day}  {point.commit:<9} {words.value(point.value):>12}  {point.change}"
        yield Line(said.rstrip())


def sparkline(values: Sequence[float | int | None]) -> str:
    """One character for each value, oldest first; "·" for unknown ones.

    The lowest bar is the smallest value and the highest the largest: the line shows a course,
    not sizes. Values that are all alike give a middle line.
    """
    known = [value for value in values if value is not None]
    if not known:
        return _GAP * len(values)
    low, high = min(known), max(known)
    top = len(_BARS) - 1
    return "".join(
        _GAP
        if value is None
        else _BARS[top // 2 if high == low else round((value - low) / (high - low) * top)]
        for value in values
    )
