"""What a report draws: charts and timelines, without a format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from launchlens.records.metric import Unit
from launchlens.records.timeline import Timeline
from launchlens.report.cells import Value


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

    "changes" are bars of what became more or less, which is worse or better. ``axis`` says what the
    categories are; ``short`` names them where there is little room, ``full`` where there is any.
    For each category, where there are any: ``beside`` a figure or a few words at the end of its
    line, ``chips`` a word that marks it, ``roles`` the side it stands for (as `Series.role`).
    ``tabled``: a table in the same section says the same.
    """

    anchor: str
    title: str
    categories: tuple[str, ...]
    series: tuple[Series, ...]
    unit: Unit
    form: Literal["bars", "stacked", "changes", "columns", "lines"] = "bars"
    caption: str = ""
    axis: str = ""
    short: tuple[str, ...] = ()
    full: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    chips: tuple[str, ...] = ()
    roles: tuple[tuple[str, str], ...] = ()
    tabled: bool = False


@dataclass(frozen=True, slots=True)
class Timelines:
    """Steps laid out in time; ``summary`` is the picture in words.

    ``numbers``: which side each is of, the baseline is 0; as they come where it is empty.
    """

    timelines: tuple[Timeline, ...]
    summary: str
    note: str = ""
    numbers: tuple[int, ...] = ()
