"""What the page's template shows of tables and charts: texts already formatted."""

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
    note: str = ""


@dataclass(frozen=True, slots=True)
class RowView:
    """A body row, its first cell a header."""

    title: str
    cells: tuple[CellView, ...]
    note: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class TableView:
    """A table. ``stack``: rows become blocks on a phone; ``folded``: text of what unfolds it."""

    caption: str
    headers: tuple[tuple[Head, ...], ...]
    rows: tuple[RowView, ...]
    stack: bool = True
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
    legend: tuple[tuple[str, str], ...]
    table: TableView
    labels: tuple[str, ...] = ()
