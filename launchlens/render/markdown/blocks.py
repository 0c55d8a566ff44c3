"""The blocks of a document as GitHub Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import singledispatch

from launchlens.render.markdown.markup import cell, code, escaped, table, table_code
from launchlens.report import changes, words
from launchlens.report.cells import Judged
from launchlens.report.document import (
    Below,
    Block,
    Checks,
    Course,
    Facts,
    FindingItem,
    Findings,
    Prominence,
    Row,
    Table,
    Text,
)

LONG = 500
_MORE_ROWS = 3  # times as many as where space is short
_LOUD = ("better", "worse")


@singledispatch
def block_text(_block: Block) -> str:
    """A block; "" where Markdown does not show its kind."""
    return ""


@block_text.register
def _(block: Table) -> str:
    return sides_table(block) if block.form == "sides" else rows_table(block)


def sides_table(block: Table, *shown: Prominence) -> str:
    """Metric, baseline, candidate, change, verdict; several candidates have a column each."""
    rows = [row for row in block.rows if row.prominence in (shown or ("main",))]
    names = [escaped(column.title) for column in block.columns[1:]]
    first = escaped(block.columns[0].title)
    if len(names) == 2:
        body = [[cell(row.cells[0]), *_separate(_judged(row))] for row in rows]
        return table([first, *names, "change", "verdict"], body)
    return table([first, *names], [[cell(row.cells[0]), *_folded(_judged(row))] for row in rows])


def _judged(row: Row) -> list[Judged]:
    return [one for one in row.cells if isinstance(one, Judged)]


def _separate(cells: Sequence[Judged]) -> list[str]:
    baseline, candidate = cells
    verdict = words.verdict(candidate.verdict)
    loud = f"**{verdict}**" if verdict in _LOUD else verdict
    return [words.cell(baseline), words.cell(candidate), changes.change(candidate), loud]


def _folded(cells: Sequence[Judged]) -> list[str]:
    """Value, change and verdict of each candidate in one cell; what is better stands bold."""
    told = [words.cell(cells[0])]
    for one in cells[1:]:
        better = one.verdict == "better"
        terms = (changes.brief_change(one), "" if better else words.verdict(one.verdict))
        said = ", ".join(term for term in terms if term)
        value = f"**{words.cell(one)}**" if better else words.cell(one)
        told.append(f"{value} ({said})" if said and one.value.number is not None else value)
    return told


def intervals(block: Table) -> str:
    """The 95% intervals of times and fractions; counts hardly vary."""
    rows = []
    for row in block.rows:
        figures = [one.value for one in _judged(row)]
        if row.prominence != "page" and figures[0].unit in ("ns", "fraction"):
            rows.append([cell(row.cells[0]), *map(words.interval, figures)])
    names = (escaped(column.title) for column in block.columns[1:])
    return table(["95% interval of the median", *names], rows)


def rows_table(block: Table) -> str:
    """A table of rows, as many as a reader of Markdown goes through."""
    rows = [row for row in block.rows if row.prominence == "main"]
    most = block.most * _MORE_ROWS if block.most else len(rows)
    places = [i for i, column in enumerate(block.columns) if column.prominence == "main"]
    columns = [block.columns[i] for i in places]
    body = [[cell(row.cells[i]) for i in places] for row in rows[:most]]
    if not body:
        return ""
    texts = [i for i, column in enumerate(columns) if column.kind != "number"]
    return table([escaped(column.title) for column in columns], body, texts=texts)


@block_text.register
def facts_table(facts: Facts) -> str:
    """Names and values."""
    write = table_code if facts.names else escaped
    body = [[write(title), write(said, LONG)] for title, said in facts.entries]
    return table(["", ""], body, texts=(0, 1))


@block_text.register
def _findings(findings: Findings) -> str:
    lines = [line for item in findings.items for line in _finding(item, brief=findings.brief)]
    title = f"{escaped(findings.title)}:\n\n" if findings.title else ""
    return title + "\n".join(lines)


def _finding(item: FindingItem, *, brief: bool) -> list[str]:
    rule = f" ({_rule(item.rule)})" if item.rule else ""
    lines = [f"- {escaped(item.said, LONG)}{rule}"]
    for title, text in item.remedies if brief else item.details:
        lines.append(f"  - {title}: {escaped(text, LONG)}")
    if item.stack and not brief:
        lines.append(f"  - stack: {escaped(words.short_stack(item.stack), LONG)}")
    return lines


def _rule(name: str) -> str:
    """A rule's name as code; one that is none, from a file of someone else, is foreign text."""
    return f"`{name}`" if re.fullmatch(r"[\w.-]+", name) else code(name)


@block_text.register
def _text(text: Text) -> str:
    title = f"{escaped(text.title)}:\n\n" if text.title else ""
    plain = [line.text if isinstance(line, Below) else line for line in text.lines]
    lines = [escaped(line, LONG) for line in plain]
    if text.form == "list":
        nested = ("  " if isinstance(line, Below) else "" for line in text.lines)
        said = [f"{indent}- {line}" for indent, line in zip(nested, lines, strict=True)]
    elif text.form == "log":
        said = [f"- {code(line, 1000)}" for line in plain]
    elif text.form in ("remark", "caution"):
        return title + "\n\n".join(f"> {line}" for line in lines)
    elif text.form == "answer":
        return "\n\n".join(f"**{line}**" for line in lines)
    else:
        return title + "\n\n".join(lines)
    return title + "\n".join(said)


@block_text.register
def _course(course: Course) -> str:
    body = [
        [
            escaped(point.day),
            table_code(point.commit),
            words.value(point.value),
            escaped(point.change),
        ]
        for point in course.points
    ]
    said = f"**{escaped(course.title, LONG)}**\n\n{escaped(course.said)}"
    return f"{said}\n\n{table(['day', 'commit', 'value', 'change'], body, texts=(0, 1))}"


@block_text.register
def _checks(checks: Checks) -> str:
    lines = []
    for status, said, remedy in checks.items:
        lines.append(f"- {status}: {escaped(said, LONG)}")
        lines += [f"  - {escaped(remedy, LONG)}"] if remedy else []
    return "\n".join(lines)
