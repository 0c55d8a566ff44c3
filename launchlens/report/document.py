"""A report without a format: sentences, tables, charts, findings, in reading order.

Every format writes the same document. Values stay numbers with their unit and bound, so that no
format can lose either; texts are foreign until a format has escaped them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from launchlens.report.cells import Cell, Judged, Value
from launchlens.report.pictures import Chart, Timelines

Prominence = Literal["main", "more", "page"]
"""``more``: the terminal shows it with -v, Markdown folded, a page below the rest. ``page``: only
where there is room for everything."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; ``kind`` says how it is aligned.

    "whole" is text, never folded; "spare" is text, shown where no other column has to fold for it.
    ``prominence`` says who shows it at all.
    """

    title: str
    kind: Literal["text", "whole", "spare", "number"] = "number"
    prominence: Prominence = "main"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table. ``note``: a remark that must stand beside it.

    ``brief``: its place in a short form of the table, where it belongs into one.
    """

    cells: tuple[Cell, ...]
    note: str | None = None
    prominence: Prominence = "main"
    brief: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose first ``names`` columns name a row.

    ``form`` "figures": the first column is a metric; "sides": so it is, and the others are
    `Judged`, baseline first; formats choose how many columns a side takes. ``order``: the numbers
    of several sides, the best first, for formats that show a line for each. ``caption``: what it is
    over, for a page; ``lead`` the same in a few words. ``most``: rows shown where space is short,
    several times as many where there is more; ``rest``: where the others are, should rows be left
    out. ``whole``: no column may be left out, however narrow the report. The ``lead`` of a table
    that only details show stands in its place elsewhere.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    caption: str = ""
    names: int = 1
    form: Literal["rows", "figures", "sides"] = "rows"
    prominence: Prominence = "main"
    most: int | None = None
    lead: str = ""
    rest: str = ""
    whole: bool = False
    order: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FindingItem:
    """A capture blocker or a failure, in words: the same in every format.

    ``said`` is the whole finding in a line; ``details`` are named further lines (where, cost, note,
    remedy) in order, and ``remedies`` those of them that stand even in a brief list. ``stack`` is
    innermost first.
    """

    said: str
    confidence: str
    rule: str | None = None
    source: str | None = None
    details: tuple[tuple[str, str], ...] = ()
    remedies: tuple[tuple[str, str], ...] = ()
    stack: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings under one title ("Capture blockers, eager").

    ``brief``: where space is short, only their remedies stand below them.
    """

    title: str
    items: tuple[FindingItem, ...]
    brief: bool = False
    prominence: Prominence = "main"


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values under a title. ``names``: both are names of the traced program."""

    title: str
    entries: tuple[tuple[str, str], ...]
    prominence: Prominence = "more"
    names: bool = False


@dataclass(frozen=True, slots=True)
class Below:
    """A line of a list that belongs to the one before it."""

    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """Lines of text; those of a list may stand below another.

    ``form`` "log": lines that are copied, neither folded nor escaped more than needed.
    """

    lines: tuple[str | Below, ...]
    form: Literal["paragraph", "list", "answer", "remark", "caution", "log"] = "paragraph"
    prominence: Prominence = "main"
    title: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """A figure in one run: the day, the commit ("+" behind it: files changed), change in words."""

    day: str
    commit: str
    value: Value
    change: str = ""


@dataclass(frozen=True, slots=True)
class Course:
    """A figure over runs, oldest first: its course in words and its points."""

    title: str
    said: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Checks:
    """What was looked at, each with a status (ok, warn, fail, skip) and what to do about it."""

    items: tuple[tuple[str, str, str], ...]


Tile = tuple[str, tuple[tuple[str, Value | Judged], ...]]
Block = Table | Chart | Timelines | Findings | Facts | Text | Course | Checks


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a heading, which pages show; where a report is short, blocks have titles enough.

    ``folds``: details that a format which can fold them shows folded. ``glance``: a picture that
    says more than a table: a page shows it first.
    """

    anchor: str
    title: str
    blocks: tuple[Block, ...]
    folds: bool = False
    glance: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report.

    Attributes:
        kind: "comparison", "analysis", "blockers", "trend", "runs", …: formats may serve some only.
        subject: what it is about, in a word or two; "" where only the sides tell.
        answers: the first sentences; the first one is the answer.
        verdict: the answer as a heading, in a few words; "" where there is none.
        warnings: what makes a comparison worth less than it looks; stands right below the answer.
        sides: names of what is compared, the baseline first; empty where nothing is.
        about: what was run, and on what, each in a word or two: model, ISL, batch, dtype, GPU.
        fastest: number of the side with the shortest step; None where that is not known.
        tiles: key figures, each a title and one labelled value for each side.
        differences: what makes a comparison unfair: the property, and its value on each side.
        cautions: what else makes figures doubtful, in sentences.
        remarks: what else a reader may want to know, in sentences.
        footer: what all figures have in common (medians, windows, machine), in sentences.
        basis: what fractions are of; stands in every report that has any.
        answers_shown: "page" where sections say the same as the answers.
        record: the record it was built from, for formats that write data.
        data: makes its rows as flat objects, for tables of data; None where there are none.
    """

    kind: str
    title: str
    answers: tuple[str, ...] = ()
    subject: str = ""
    verdict: str = ""
    warnings: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    fastest: int | None = None
    tiles: tuple[Tile, ...] = ()
    differences: tuple[tuple[str, tuple[str, ...]], ...] = ()
    cautions: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    provenance: tuple[Facts, ...] = ()
    footer: tuple[str, ...] = ()
    basis: str = ""
    answers_shown: Prominence = "main"
    record: Any = None
    data: Callable[[], Iterator[dict[str, Any]]] | None = None
