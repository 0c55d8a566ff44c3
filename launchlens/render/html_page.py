"""What the page template shows, as plain records: texts already formatted, nothing computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Head:
    """A header cell; ``span`` columns wide, ``rows`` rows high."""

    text: str
    span: int = 1
    rows: int = 1
    style: str = ""


@dataclass(frozen=True, slots=True)
class CellView:
    """A body cell. ``label`` names its column where rows become blocks (on a phone)."""

    text: str
    label: str = ""
    style: str = ""
    chip: str = ""
    note: str | None = None


@dataclass(frozen=True, slots=True)
class RowView:
    """A body row, its first cell a header."""

    title: str
    cells: tuple[CellView, ...]
    note: str | None = None
    style: str = ""


@dataclass(frozen=True, slots=True)
class TableView:
    """A table. ``stack``: rows become blocks on a phone; ``folded``: text of what unfolds it."""

    caption: str
    headers: tuple[tuple[Head, ...], ...]
    rows: tuple[RowView, ...]
    stack: bool = False
    wide: bool = False
    folded: str = ""


@dataclass(frozen=True, slots=True)
class FigureView:
    """A plotly figure: ``data`` and ``layout`` for the script, ``summary`` for those who hear it.

    ``legend`` holds (colour, words); ``table`` the same figures as text. ``labels`` are the
    whole texts of the layout's first annotations, which the script cuts to the room there is.
    """

    id: str
    title: str
    summary: str
    caption: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    legend: tuple[tuple[str, str], ...] = ()
    table: TableView | None = None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FindingView:
    """A capture blocker as text."""

    title: str
    confidence: str
    chip: str
    facts: str
    source: str | None
    note: str | None
    remedy: str
    stack: str


@dataclass(frozen=True, slots=True)
class FactsView:
    """A titled list of names and values."""

    title: str
    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class LegendView:
    """A legend's group: (colour, words) of each entry."""

    title: str
    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SectionView:
    """A section of the page under its own heading; ``timeline`` is that figure's summary."""

    anchor: str
    title: str
    paragraphs: tuple[str, ...] = ()
    timeline: str = ""
    figures: tuple[FigureView, ...] = ()
    tables: tuple[TableView, ...] = ()
    findings: tuple[FindingView, ...] = ()
    facts: tuple[FactsView, ...] = ()


@dataclass(frozen=True, slots=True)
class TileValue:
    """One side's value on a tile."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Tile:
    """A headline figure of every side."""

    title: str
    sides: tuple[TileValue, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """The whole report."""

    title: str
    sentences: tuple[str, ...]
    tiles: tuple[Tile, ...]
    notices: tuple[str, ...]
    blocks: tuple[SectionView, ...]
