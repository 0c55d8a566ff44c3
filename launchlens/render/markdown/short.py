"""What a comparison opens with: the verdict, what spoils it, and a few rows; the rest is folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from launchlens.render.markdown.blocks import LONG, block_text
from launchlens.render.markdown.markup import cell, details, escaped, table
from launchlens.render.markdown.places import blocks_of, is_sides, prominence
from launchlens.report import changes, words
from launchlens.report.cells import Judged
from launchlens.report.document import Document, Row, Table

_MARKS = {"better": "🟢", "worse": "🔴", "inconclusive": "⚪"}


def opening(document: Document) -> list[str]:
    """The verdict as a heading, then what makes it doubtful."""
    lines = [f"### {escaped(document.verdict or document.title, LONG)}"]
    if document.warnings:
        said = "\n".join(f"> {escaped(warning, LONG)}" for warning in document.warnings)
        lines.append(f"> [!WARNING]\n{said}")
    return [*lines, *(escaped(said, LONG) for said in document.answers[1:])]


def short_tables(document: Document) -> list[tuple[str, str]]:
    """A few rows of each phase, with the phase's title: metric, a column for each side.

    Of two sides the change has a column too; of several it stands in a candidate's cell.
    """
    tables = [b for _, b in blocks_of(document) if isinstance(b, Table) and is_sides(b)]
    return [(block.title, _short_table(block)) for block in tables]


def short_rows(block: Table) -> list[Row]:
    """The rows of a table of sides that its short form has."""
    chosen = [row for row in block.rows if row.brief is not None]
    return sorted(chosen, key=lambda row: row.brief or 0)


def _short_table(block: Table) -> str:
    names = [column.title for column in block.columns[1:]]
    order = block.order or tuple(range(len(names)))
    compared = len(names) == 2
    header = [escaped(block.title), *(escaped(names[i]) for i in order)]
    rows = []
    for row in short_rows(block):
        figures = [one for one in row.cells if isinstance(one, Judged)]
        if compared:
            told = [*map(words.cell, figures), _marked(changes.change(figures[-1]), figures[-1])]
        else:
            told = [_with_change(figures[i]) for i in order]
        rows.append([cell(row.cells[0]), *told])
    return table([*header, *(["change"] if compared else [])], rows)


def _with_change(one: Judged) -> str:
    change = changes.brief_change(one)
    return _marked(f"{words.cell(one)} ({change})" if change else words.cell(one), one)


def _marked(said: str, one: Judged) -> str:
    mark = _MARKS.get(one.verdict)
    return f"{mark} {said}" if mark and said else said


def doubts(document: Document) -> str:
    """What makes figures doubtful, as a quote that nobody overlooks."""
    lines = [f"> {escaped(note, LONG)}" for note in document.cautions]
    return "\n>\n".join(lines)


def small_print(document: Document, *more: str) -> str:
    """What was measured and how, in small letters; ``more`` is Markdown already."""
    tables = [b for _, b in blocks_of(document) if isinstance(b, Table) and is_sides(b)]
    notes = dict.fromkeys(r.note for block in tables[:1] for r in short_rows(block) if r.note)
    said = [document.subject, *document.remarks, *map(_sentence, notes), *document.footer]
    told = [escaped(text, LONG) for text in said if text]
    return f"<sub>{' · '.join([*told, *(text for text in more if text)])}</sub>"


def _sentence(note: str) -> str:
    return note[:1].upper() + note[1:]


def folded(document: Document) -> Iterator[tuple[str, str]]:
    """All blocks that the opening leaves out, each folded under its title."""
    tables = 0
    for section, block in blocks_of(document):
        if isinstance(block, Table) and is_sides(block):
            tables += 1
            yield from _all_metrics(block, first=tables == 1)
            continue
        text = block_text(block)
        if prominence(block) == "page" or not text:
            continue
        title = getattr(block, "title", "") or section.title
        yield title, details(title, text)


def _all_metrics(block: Table, *, first: bool) -> Iterator[tuple[str, str]]:
    from launchlens.render.markdown.blocks import intervals, sides_table

    title = f"All metrics, {block.title}"
    if not first:
        name = block.title[:1].upper() + block.title[1:]
        yield name, details(name, _short_table(block))
    yield title, details(title, sides_table(block, "main", "more"), intervals(block))


def join_parts(parts: Sequence[str]) -> str:
    """Parts with empty lines between them."""
    return "\n\n".join(part for part in parts if part) + "\n"
