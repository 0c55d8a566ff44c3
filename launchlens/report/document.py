"""A report without a format: sentences, tables, charts, findings, in reading order.

Built once from records; every format writes the same document. Values stay numbers with their
unit and bound, so that no format can lose either, and texts are foreign until a format has escaped
them. Formats lay out, and compute nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from launchlens.records.figures import Verdict
from launchlens.records.metric import Bound, Unit
from launchlens.records.timeline import Timeline

Number = int | float
Prominence = Literal["main", "more"]
"""``more``: the terminal shows it with -v, Markdown folded, a page below the rest."""


@dataclass(frozen=True, slots=True)
class Value:
    """A figure: ``number`` None is unknown, or what ``instead`` says ("failed")."""

    number: Number | None
    unit: Unit
    bound: Bound | None = None
    low: Number | None = None
    high: Number | None = None
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """One side's figure in a comparison, with its change against the baseline.

    ``change`` in the value's unit, ``relative`` as a ratio less one; None for the baseline and
    where either side is unknown. ``source``: "trace", "graph trace" or "untraced".
    """

    value: Value
    change: Number | None = None
    relative: float | None = None
    verdict: Verdict = "neutral"
    source: str = "trace"
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Name:
    """A name from the traced program (kernel, range, function): shown as code, may be folded."""

    text: str


Cell = str | Name | Value | Judged


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; ``kind`` says how it is aligned and what may be folded."""

    title: str
    kind: Literal["text", "number"] = "number"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table. ``note``: a remark that must stand beside it."""

    cells: tuple[Cell, ...]
    note: str | None = None
    prominence: Prominence = "main"


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose first ``names`` columns name a row.

    ``form`` "sides": the first column is a metric and the others are `Judged`, baseline first;
    formats choose how many columns a side takes. ``most``: rows shown where space is short.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    caption: str = ""
    names: int = 1
    form: Literal["rows", "sides"] = "rows"
    prominence: Prominence = "main"
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Values of one name (a side, a cause) over the categories of a chart.

    ``role`` chooses the colour: ("side", "0"), ("cause", "host"), ("busy", ""). ``words`` explain
    the name in a legend; ``hover`` are further words of each value. ``absent``: categories in which
    the name does not occur, so that a line goes on across them, while it breaks at the unknown.
    """

    name: str
    values: tuple[Value, ...]
    role: tuple[str, str]
    words: str = ""
    hover: tuple[str, ...] = ()
    absent: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: horizontal bars, stacked bars, upright columns, or lines over ordered categories.

    ``axis`` says what the categories are; ``short`` names them where there is little room.
    """

    anchor: str
    title: str
    categories: tuple[str, ...]
    series: tuple[Series, ...]
    unit: Unit
    form: Literal["bars", "stacked", "columns", "lines"] = "bars"
    caption: str = ""
    axis: str = ""
    short: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Timelines:
    """Steps laid out in time; ``summary`` is the picture in words."""

    timelines: tuple[Timeline, ...]
    summary: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class FindingItem:
    """A capture blocker or a failure, in words: the same in every format.

    ``said`` is the whole finding in a line; ``details`` are named further lines (where, cost, note,
    remedy, stack) in order.
    """

    said: str
    confidence: str
    rule: str | None = None
    source: str | None = None
    details: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings under one title ("Capture blockers, eager")."""

    title: str
    items: tuple[FindingItem, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values under a title."""

    title: str
    entries: tuple[tuple[str, str], ...]
    prominence: Prominence = "more"


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph, or lines of a list. ``tone``: what a colour may say."""

    lines: tuple[str, ...]
    form: Literal["paragraph", "list", "answer", "remark", "caution"] = "paragraph"
    prominence: Prominence = "main"


Block = Table | Chart | Timelines | Findings | Facts | Text


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a heading."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]
    prominence: Prominence = "main"


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report.

    Attributes:
        kind: "comparison", "analysis", "blockers", "trend", "runs", …: formats may serve some only.
        title: for a window or a heading.
        answers: the first sentences; the first one is the answer.
        tiles: key figures, each a title and one labelled value for each side.
        cautions: what makes figures doubtful or a comparison unfair.
        sections: the rest in reading order.
        provenance: where the figures come from.
        footer: what all figures have in common (medians, windows, machine), in a sentence.
        record: the record it was built from, for formats that write data.
        data: its rows as flat objects, for tables of data; empty where there are none.
    """

    kind: str
    title: str
    answers: tuple[str, ...]
    tiles: tuple[tuple[str, tuple[tuple[str, Value], ...]], ...] = ()
    cautions: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    provenance: tuple[Facts, ...] = ()
    footer: str = ""
    record: Any = None
    data: tuple[dict[str, Any], ...] = field(default=())
