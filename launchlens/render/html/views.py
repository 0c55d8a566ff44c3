"""What the page's template shows of tables and charts: texts already formatted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Head:
    """A header cell; ``span`` columns wide, ``rows`` rows high."""

    text: str
    span: int = 1
    rows: int = 1
    style: str = ""
    swatch: str = ""


@dataclass(frozen=True, slots=True)
class CellView:
    """A body cell. ``label`` names its column where rows become blocks (on a phone).

    ``note`` stands below, ``tone`` is the class of its colour; ``tip`` is shown where the cell is
    pointed at, and below it where all of them are asked for.
    """

    text: str
    label: str = ""
    style: str = ""
    chip: str = ""
    note: str = ""
    tone: str = ""
    tip: str = ""


@dataclass(frozen=True, slots=True)
class RowView:
    """A body row, its first cell a header; ``full`` is the whole name where that is a short one."""

    title: str
    cells: tuple[CellView, ...]
    note: str = ""
    style: str = ""
    full: str = ""


@dataclass(frozen=True, slots=True)
class CardView:
    """A key figure: ``big`` is the figure on its sides, ``chip`` the class of its change."""

    title: str
    big: str
    change: str = ""
    chip: str = ""
    who: str = ""


@dataclass(frozen=True, slots=True)
class TableView:
    """A table. ``stack``: rows become blocks on a phone; ``folded``: text of what unfolds it."""

    caption: str
    headers: tuple[tuple[Head, ...], ...]
    rows: tuple[RowView, ...]
    stack: bool = True
    folded: str = ""

    @property
    def tips(self) -> bool:
        """Whether any cell has more to say than it shows."""
        return any(cell.tip for row in self.rows for cell in row.cells)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a bar, ``size`` per cent of the longest; ``tip`` is shown where it is pointed at.

    ``style`` is a class of the style sheet, for what has no colour of its own.
    """

    size: float
    colour: str = ""
    ink: str = ""
    text: str = ""
    tip: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class BarsView:
    """A category of a chart: its name, and a bar for each of ``parts``, or one made of them.

    ``full`` is the whole name, where ``name`` is a short one; ``swatch`` the colour of its side;
    ``beside`` what stands at the end of its line; ``chip`` a word that marks it.
    """

    name: str
    parts: tuple[Part, ...]
    full: str = ""
    swatch: str = ""
    beside: str = ""
    chip: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A point of a line, in per cent of the plot from its left and its foot.

    ``low`` and ``high`` are the ends of its interval; both are ``up`` where none is known.
    """

    along: float
    up: float
    low: float
    high: float
    tip: str


@dataclass(frozen=True, slots=True)
class LineView:
    """A line, broken where values are unknown: ``paths`` are the points of its pieces."""

    colour: str
    symbol: str
    paths: tuple[str, ...]
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class UprightView:
    """A plot over an axis: ``ticks`` and ``names`` are (per cent, text), ``unit`` is the ticks'."""

    ticks: tuple[tuple[float, str], ...]
    names: tuple[tuple[float, str], ...]
    unit: str
    axis: str
    groups: tuple[BarsView, ...] = ()
    lines: tuple[LineView, ...] = ()


@dataclass(frozen=True, slots=True)
class FigureView:
    """A chart: ``plot`` is drawn by the template of its ``form``, ``summary`` is heard.

    ``legend`` holds (colour, name, words behind it); ``table`` the same figures as text, where no
    table stands beside it.
    """

    id: str
    title: str
    summary: str
    caption: str
    form: str
    plot: tuple[BarsView, ...] | UprightView
    legend: tuple[tuple[str, str, str], ...]
    table: TableView | None
