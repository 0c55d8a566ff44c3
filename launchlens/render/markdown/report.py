"""A document as Markdown to paste into a pull request: the answer, a table, collapsed details."""

from __future__ import annotations

from collections.abc import Iterator

from launchlens.render.markdown.blocks import LONG, block_text, facts_table
from launchlens.render.markdown.markup import details, escaped
from launchlens.render.markdown.places import blocks_of, is_sides, prominence
from launchlens.render.markdown.short import (
    doubts,
    folded,
    join_parts,
    opening,
    short_tables,
    small_print,
)
from launchlens.report.document import Document, Table


def render(document: Document) -> str:
    """The report as GitHub Markdown."""
    return _comparison(document) if document.verdict else _other(document)


def _comparison(document: Document) -> str:
    tables = [text for _, text in short_tables(document)[:1]]
    rest = [text for _, text in (*folded(document), *provenance(document))]
    return join_parts([*opening(document), *tables, doubts(document), *rest, small_print(document)])


def _other(document: Document) -> str:
    """A report that compares nothing, and so has no verdict."""
    blocks = [escaped(said, LONG) for said in document.answers]
    several = sum(is_sides(block) for _, block in blocks_of(document)) > 1
    for section in document.sections:
        shown = [block for block in section.blocks if prominence(block) == "main"]
        if section.folds:
            body = [block_text(block) for block in shown]
            blocks += [details(section.title, *body)] if any(body) else []
            continue
        for block in shown:
            title = getattr(block, "title", "") if isinstance(block, Table) else ""
            if title and (several or not is_sides(block)):
                blocks.append(f"**{escaped(title)}**")
            blocks.append(block_text(block))
    blocks += [_cautions(document), *(text for _, text in _details(document))]
    return join_parts(blocks)


def _cautions(document: Document) -> str:
    """What differs, and notes, as a quote that nobody overlooks."""
    first = next((b for _, b in blocks_of(document) if isinstance(b, Table) and is_sides(b)), None)
    rows = first.rows if first else ()
    notes = dict.fromkeys(row.note for row in rows if row.note and row.prominence == "main")
    said = [*document.warnings, *document.cautions, *document.remarks, *notes]
    lines = [f"> {escaped(note, LONG)}" for note in said]
    lines += [f"> {document.basis}"] if document.basis else []
    return "\n>\n".join(lines)


def _details(document: Document) -> Iterator[tuple[str, str]]:
    """Collapsed blocks, each with its title: all metrics, kernels, gaps, provenance."""
    for section, block in blocks_of(document):
        is_more = prominence(block) == "more"
        if not is_sides(block) and is_more and (text := block_text(block)):
            title = getattr(block, "title", "") or section.title
            yield title, details(title, text)
    yield from provenance(document)


def provenance(document: Document) -> Iterator[tuple[str, str]]:
    """Where the figures come from, collapsed."""
    for facts in document.provenance:
        if facts.prominence != "page":
            title = facts.title.capitalize()
            yield title, details(title, facts_table(facts))
