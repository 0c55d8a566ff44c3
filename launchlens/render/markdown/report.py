"""A document as Markdown to paste into a pull request: sentence, table, collapsed details."""

from __future__ import annotations

from collections.abc import Iterator

from launchlens.render.markdown.blocks import LONG, block_text, facts_table, intervals, sides_table
from launchlens.render.markdown.markup import details, escaped
from launchlens.report import words
from launchlens.report.document import Block, Document, Section, Table
from launchlens.report.pictures import Chart


def render(document: Document) -> str:
    """The report as GitHub Markdown."""
    blocks = [escaped(said, LONG) for said in document.answers]
    several = sum(is_sides(block) for _, block in blocks_of(document)) > 1
    for section in document.sections:
        shown = [block for block in section.blocks if prominence(block) == "main"]
        if section.folds:
            body = [block_text(block) for block in shown]
            blocks += [details(escaped(section.title), *body)] if any(body) else []
            continue
        for block in shown:
            title = getattr(block, "title", "") if isinstance(block, Table) else ""
            if title and (several or not is_sides(block)):
                blocks.append(f"**{escaped(title)}**")
            blocks.append(block_text(block))
    blocks += [cautions(document), *(text for _, text in detail_blocks(document))]
    return "\n\n".join(block for block in blocks if block) + "\n"


def blocks_of(document: Document) -> Iterator[tuple[Section, Block]]:
    """All blocks in order, with their sections."""
    for section in document.sections:
        for block in section.blocks:
            yield section, block


def is_sides(block: Block) -> bool:
    """Whether it is a table of several sides' metrics."""
    return isinstance(block, Table) and block.form == "sides"


def prominence(block: Block) -> str:
    """Who shows the block; charts are for pages."""
    return "page" if isinstance(block, Chart) else getattr(block, "prominence", "main")


def cautions(document: Document) -> str:
    """What differs, and notes, as a quote that nobody overlooks."""
    lines = [
        f"> differs: {escaped(what)}: {escaped(words.joined(values))}"
        for what, values in document.differences
    ]
    lines += [f"> {escaped(note, LONG)}" for note in document.cautions]
    first = next((b for _, b in blocks_of(document) if isinstance(b, Table) and is_sides(b)), None)
    rows = first.rows if first else ()
    notes = dict.fromkeys(row.note for row in rows if row.note and row.prominence == "main")
    lines += [f"> {escaped(note, LONG)}" for note in notes]
    lines += [f"> {document.basis}"] if document.basis else []
    return "\n>\n".join(lines)


def detail_blocks(document: Document) -> Iterator[tuple[str, str]]:
    """Collapsed blocks, each with its title: all metrics, kernels, gaps, provenance."""
    for section, block in blocks_of(document):
        if isinstance(block, Table) and is_sides(block):
            title = f"All metrics, {escaped(block.title)}"
            yield title, details(title, sides_table(block, "main", "more"), intervals(block))
        elif prominence(block) == "more" and (text := block_text(block)):
            title = escaped(getattr(block, "title", "") or section.title)
            yield title, details(title, text)
    for facts in document.provenance:
        if facts.prominence != "page":
            title = escaped(facts.title.capitalize())
            yield title, details(title, facts_table(facts))
