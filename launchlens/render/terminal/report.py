"""A document as text for the terminal. The first line is the answer; then tables; then details."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.text import Text as Line

from launchlens.render.terminal.blocks import block_parts
from launchlens.render.terminal.sides import interval_parts
from launchlens.render.terminal.tables import to_text
from launchlens.render.writer import Manner
from launchlens.report import words
from launchlens.report.document import Block, Document, Table, Text


def render(document: Document, manner: Manner) -> str:
    """The report as text of at most ``manner.width`` columns."""
    parts: list[RenderableType] = []
    if document.answers_shown == "main":
        parts += [Line(words.plain(said, 1000), style="bold") for said in document.answers]
    parts += [
        Line(f"! {words.plain(said, words.LONG)}", style="yellow") for said in document.warnings
    ]
    blocks = [block for section in document.sections for block in section.blocks]
    heading = sum(isinstance(b, Table) and b.form == "sides" for b in blocks) > 1
    before: Block | None = None
    for block in blocks:
        shown = list(_main(block, manner, heading=heading))
        parts += shown if not shown or _continues(block, before) else ["", *shown]
        before = block
    parts += _cautions(document)
    if document.footer:
        parts += ["", Line(words.plain(" ".join(document.footer), 1000), style="dim")]
    if manner.verbose:
        parts += _details(document, manner)
    shown = parts[1:] if parts[:1] == [""] else parts
    return to_text(shown, width=manner.width, color=manner.color)


def _main(block: Block, manner: Manner, *, heading: bool) -> Iterable[RenderableType]:
    """A block that every report shows; of one that details show, the line in its place."""
    prominence = getattr(block, "prominence", "main")
    if prominence == "more" and isinstance(block, Table) and block.lead and not manner.verbose:
        said = words.plain(block.lead, words.LONG)
        return [Line(f"* {said}; -v lists them", style="dim")]
    if prominence != "main":
        return []
    return block_parts(block, manner, heading=heading)


def _continues(block: Block, before: Block | None) -> bool:
    """Whether a block's lines belong to the one above: cautions on a table, what it leaves out."""
    if isinstance(block, Table) and block.prominence == "more":
        return True
    return isinstance(before, Table) and isinstance(block, Text) and block.form == "caution"


def _cautions(document: Document) -> Iterator[RenderableType]:
    if document.cautions or document.remarks:
        yield ""
    for note in document.cautions:
        yield Line(f"! {words.plain(note, words.LONG)}", style="yellow")
    for note in document.remarks:
        yield Line(words.plain(note, words.LONG), style="dim")


def _details(document: Document, manner: Manner) -> Iterator[RenderableType]:
    """What only a report with all details shows, in the order of the document."""
    for section in document.sections:
        for block in section.blocks:
            if isinstance(block, Table) and block.form == "sides":
                yield from ("", *interval_parts(block, width=manner.width))
            elif getattr(block, "prominence", "main") == "more":
                yield from ("", *block_parts(block, manner, heading=False))
    for facts in document.provenance:
        if facts.prominence != "page":
            yield from ("", *block_parts(facts, manner, heading=False))
