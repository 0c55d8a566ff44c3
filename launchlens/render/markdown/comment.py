"""A comparison as the comment under a pull request, short enough for GitHub."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from launchlens.render.markdown.blocks import LONG, block_text
from launchlens.render.markdown.markup import cell, escaped, table
from launchlens.render.markdown.mermaid import step_chart
from launchlens.render.markdown.report import (
    blocks_of,
    cautions,
    detail_blocks,
    is_sides,
    prominence,
)
from launchlens.report import changes, words
from launchlens.report.cells import Judged
from launchlens.report.document import Block, Document, Row, Table
from launchlens.report.pictures import Chart

LIMIT = 65_536  # GitHub refuses longer bodies; counted in bytes, which no way of counting exceeds
_SHORT_HASH = 7
_DIRTY = ("-dirty", "+dirty")
_VERDICTS = {"better": "🟢 better", "worse": "🔴 worse", "inconclusive": "⚪ inconclusive"}


@dataclass(frozen=True, slots=True)
class _Block:
    """A piece of the comment. The pieces with the highest ``rank`` are dropped first."""

    text: str
    rank: int
    name: str


def render_comment(
    document: Document,
    *,
    marker: str,
    measured_commit: str | None,
    head_commit: str | None,
    limit: int = LIMIT,
    limits: Sequence[tuple[bool, str]] = (),
) -> str:
    """The comment's Markdown.

    Args:
        document: of a comparison of the baseline with this pull request.
        marker: hidden first line, by which the comment is found again.
        measured_commit: hash that was measured, "-dirty" behind it when files were changed;
            None when that is not known, which is said.
        head_commit: hash of the pull request's head; None when it was not asked.
        limit: most bytes. Details are dropped first, and what was dropped is said.
        limits: what came of thresholds, shown below the table: whether each holds, and its line.

    Returns:
        Markdown that begins with the marker.
    """
    blocks = [block for block in _blocks(document, limits) if block.text]
    title = f"### launchlens: {escaped(document.subject)}" if document.subject else "### launchlens"
    start = [marker, title, *_freshness(measured_commit, head_commit)]
    text = _join(start, blocks, [])
    dropped: list[str] = []
    for block in sorted(blocks, key=lambda block: -block.rank):
        if len(text.encode()) <= limit:
            return text
        blocks.remove(block)
        dropped.append(block.name)
        text = _join(start, blocks, dropped)
    return text if len(text.encode()) <= limit else _cut(text, limit)


def _blocks(document: Document, limits: Sequence[tuple[bool, str]]) -> Iterator[_Block]:
    yield _Block("\n\n".join(f"**{escaped(s, LONG)}**" for s in document.answers), 0, "the summary")
    main = [block for _, block in blocks_of(document) if prominence(block) == "main"]
    tables = [block for block in main if isinstance(block, Table) and is_sides(block)]
    for place, block in enumerate(tables):
        yield _Block(_metrics(block), 1 + place, f"the {escaped(block.title)} table")
    most = 1 + len(tables)
    yield _Block(_limits(limits), most, "thresholds")
    for section in document.sections:
        shown = [b for b in section.blocks if prominence(b) == "main" and not is_sides(b)]
        texts = [_titled(block) for block in shown]
        yield _Block("\n\n".join(t for t in texts if t), most + 2, section.anchor)
    yield _Block(cautions(document), most + 1, "cautions")
    chart = next(
        (b for _, b in blocks_of(document) if isinstance(b, Chart) and b.form == "stacked"), None
    )
    yield _Block(step_chart(chart) if chart else "", most + 4, "the chart")
    # Provenance stands last and is the last of the details to go.
    details = list(detail_blocks(document)) if tables else []
    for place, (name, text) in enumerate(details):
        yield _Block(text, most + 5 + len(details) - place, name)


def _titled(block: Block) -> str:
    text = block_text(block)
    title = block.title if isinstance(block, Table) else ""
    return f"{escaped(title)}:\n\n{text}" if title and text else text


def _freshness(measured: str | None, head: str | None) -> list[str]:
    """The measured commit beside the head, and a plain warning when they differ."""
    if measured is None:
        return ["> [!NOTE]\n> It is not known which commit was measured."]
    commit, dirty = measured, False
    for suffix in _DIRTY:
        if measured.endswith(suffix):
            commit, dirty = measured.removesuffix(suffix), True
    short = _hash(commit)
    lines = []
    if head is not None and not _same_commit(commit, head):
        lines.append(f"Measured at {short}; the head is now {_hash(head)}: measure again.")
    if dirty:
        lines.append(f"Measured with files changed that are not in {short}.")
    if lines:
        return ["> [!WARNING]\n" + "\n".join(f"> {line}" for line in lines)]
    return [f"Measured at {short}" + (", the pull request's head." if head else ".")]


def _same_commit(measured: str, head: str) -> bool:
    shorter, longer = sorted((measured.lower(), head.lower()), key=len)
    return len(shorter) >= _SHORT_HASH and longer.startswith(shorter)


def _hash(commit: str) -> str:
    return f"`{re.sub(r'[^0-9A-Za-z]', '', commit)[:_SHORT_HASH] or 'unknown'}`"


def _metrics(block: Table) -> str:
    """Metric, baseline, this PR, change, verdict; a group of three for each candidate."""
    baseline, *candidates = [escaped(column.title) for column in block.columns[1:]]
    header = ["metric", f"baseline ({baseline})"]
    for name in candidates:
        header += [f"this PR ({name})" if len(candidates) == 1 else name, "change", "verdict"]
    rows = [_line(row) for row in block.rows if row.prominence == "main"]
    return f"{escaped(block.lead, LONG)}\n\n{table(header, rows)}"


def _line(row: Row) -> list[str]:
    figures = [one for one in row.cells if isinstance(one, Judged)]
    line = [cell(row.cells[0]), words.cell(figures[0])]
    for one in figures[1:]:
        verdict = _VERDICTS.get(one.verdict) or words.verdict(one.verdict)
        line += [words.cell(one), changes.change(one), verdict]
    return line


def _limits(limits: Sequence[tuple[bool, str]]) -> str:
    lines = [f"- {'✅' if holds else '❌'} {escaped(said, LONG)}" for holds, said in limits]
    return "Thresholds:\n\n" + "\n".join(lines) if lines else ""


def _join(start: Sequence[str], blocks: Sequence[_Block], dropped: Sequence[str]) -> str:
    end = [f"_Left out to stay below GitHub's limit: {', '.join(dropped)}._"] if dropped else []
    return "\n\n".join([*start, *(block.text for block in blocks), *end]) + "\n"


def _cut(text: str, limit: int) -> str:
    """The last resort, for a limit that not even the sentence fits in."""
    end = "…\n"
    return text.encode()[: max(limit - len(end.encode()), 0)].decode(errors="ignore") + end
