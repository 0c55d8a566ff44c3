"""A comparison as the comment under a change, short enough for its forge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from launchlens.render.markdown.blocks import LONG
from launchlens.render.markdown.markup import details, escaped
from launchlens.render.markdown.mermaid import step_chart
from launchlens.render.markdown.places import blocks_of
from launchlens.render.markdown.report import provenance
from launchlens.render.markdown.short import (
    doubts,
    folded,
    join_parts,
    opening,
    short_tables,
    small_print,
)
from launchlens.report.document import Document
from launchlens.report.pictures import Chart

_SHORT_HASH = 7
_CHART = "Where the time goes"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the comment is to stand: the forge's name, what it calls a change, how much it takes.

    ``longest`` is in bytes.
    """

    forge: str
    change: str
    longest: int


@dataclass(frozen=True, slots=True)
class Measured:
    """The commit that was measured. ``dirty``: with files changed; ``stale``: the head is another.

    ``head`` is the change's newest commit, None when it was not asked.
    """

    sha: str
    dirty: bool = False
    stale: bool = False
    head: str | None = None


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of the comment. The pieces with the highest ``rank`` are dropped first."""

    text: str
    rank: int
    name: str


def render_comment(
    document: Document,
    *,
    marker: str,
    place: Place,
    measured: Measured | None,
    limits: Sequence[tuple[bool, str]] = (),
) -> str:
    """The comment's Markdown.

    Args:
        document: of a comparison of the baseline with this change.
        marker: hidden first line, by which the comment is found again.
        place: where it is to stand. Details are dropped until it fits, and what was is said.
        measured: the commit that was measured; None when that is not known, which is said.
        limits: what came of thresholds, shown below the table: whether each holds, and its line.

    Returns:
        Markdown that begins with the marker.
    """
    heading, *spoiled = opening(document)
    stale, small = _freshness(measured, place)
    start, end = [marker, heading, stale, *spoiled], small_print(document, small)
    parts = [part for part in _parts(document, limits) if part.text]
    text = _join(start, parts, end, [], place)
    dropped: list[str] = []
    for part in sorted(parts, key=lambda part: -part.rank):
        if len(text.encode()) <= place.longest:
            return text
        parts.remove(part)
        dropped.append(part.name)
        text = _join(start, parts, end, dropped, place)
    return text if len(text.encode()) <= place.longest else _cut(text, place.longest)


def _parts(document: Document, limits: Sequence[tuple[bool, str]]) -> Iterator[_Part]:
    for title, text in short_tables(document)[:1]:
        yield _Part(text, 0, f"the {title} table")
    yield _Part(_limits(limits), 1, "thresholds")
    yield _Part(doubts(document), 2, "cautions")
    chart = next(
        (b for _, b in blocks_of(document) if isinstance(b, Chart) and b.form == "stacked"), None
    )
    drawn = step_chart(chart) if chart else ""
    yield _Part(details(_CHART, drawn) if drawn else "", 3, "the chart")
    # Provenance stands last and is the last of the details to go.
    rest = [*folded(document), *provenance(document)]
    for place, (name, text) in enumerate(rest):
        yield _Part(text, 4 + len(rest) - place, name)


def _freshness(measured: Measured | None, place: Place) -> tuple[str, str]:
    """A warning where what was measured is not what is there, else a small line on the commit."""
    if measured is None:
        return "", "It is not known which commit was measured."
    short = _hash(measured.sha)
    lines = []
    if measured.stale and measured.head:
        lines.append(f"Measured at {short}; the head is now {_hash(measured.head)}: measure again.")
    if measured.dirty:
        lines.append(f"Measured with files changed that are not in {short}.")
    if lines:
        return "> [!WARNING]\n" + "\n".join(f"> {line}" for line in lines), ""
    return "", f"Measured at {short}" + (f", the {place.change}'s head." if measured.head else ".")


def _hash(commit: str) -> str:
    return f"`{re.sub(r'[^0-9A-Za-z]', '', commit)[:_SHORT_HASH] or 'unknown'}`"


def _limits(limits: Sequence[tuple[bool, str]]) -> str:
    lines = [f"- {'✅' if holds else '❌'} {escaped(said, LONG)}" for holds, said in limits]
    return "Thresholds:\n\n" + "\n".join(lines) if lines else ""


def _join(
    start: Sequence[str], parts: Sequence[_Part], end: str, dropped: Sequence[str], place: Place
) -> str:
    names = ", ".join(escaped(name) for name in dropped)
    left = f"_Left out to stay below {place.forge}'s limit: {names}._" if dropped else ""
    return join_parts([*start, *(part.text for part in parts), left, end])


def _cut(text: str, limit: int) -> str:
    """The last resort, for a limit that not even the verdict fits in."""
    end = "…\n"
    return text.encode()[: max(limit - len(end.encode()), 0)].decode(errors="ignore") + end
