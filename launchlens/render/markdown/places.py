"""Where the blocks of a document stand in Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from launchlens.report.document import Block, Document, Section, Table
from launchlens.report.pictures import Chart


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
