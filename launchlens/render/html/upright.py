"""Plots over an axis: columns of a histogram, lines over runs."""

from __future__ import annotations

from collections.abc import Sequence

from launchlens.render.html.palette import colour
from launchlens.render.html.scale import largest, share, ticks, unit_words
from launchlens.render.html.views import BarsView, LineView, Mark, Part, UprightView
from launchlens.report import words
from launchlens.report.cells import Value
from launchlens.report.pictures import Chart, Series

_SYMBOLS = ("circle", "square", "diamond", "triangle", "plus", "cross", "star")
_MOST_NAMES = 5


def columns(chart: Chart) -> UprightView:
    """Upright columns over a few short, ordered categories, such as the bins of a histogram."""
    end, marks = ticks(largest(v for one in chart.series for v in one.values), chart)
    groups = []
    for i, name in enumerate(chart.categories):
        parts = []
        for one in chart.series:
            value = one.values[i]
            tip = f"{one.name}, {name}: {words.value(value)}"
            parts.append(Part(share(value.number or 0, end), colour(*one.role), tip=tip))
        groups.append(BarsView(name, tuple(parts)))
    return UprightView(marks, (), unit_words(chart), chart.axis, tuple(groups))


def lines(chart: Chart) -> UprightView:
    """A line for each series, broken where a value is unknown; intervals are bars."""
    ends = [Value(v.high, v.unit) for one in chart.series for v in one.values]
    end, marks = ticks(largest([*ends, *(v for one in chart.series for v in one.values)]), chart)
    names = [(_along(i, chart), name) for i, name in enumerate(chart.short or chart.categories)]
    return UprightView(
        marks,
        tuple(_some(names)),
        unit_words(chart),
        chart.axis,
        lines=tuple(_line(chart, one, i, end) for i, one in enumerate(chart.series)),
    )


def _line(chart: Chart, series: Series, index: int, end: float) -> LineView:
    pieces: list[list[Mark]] = [[]]
    for i, value in enumerate(series.values):
        if i in series.absent:
            continue
        if value.number is None:
            pieces.append([])
            continue
        up = share(value.number, end)
        low, high = (up if n is None else share(n, end) for n in (value.low, value.high))
        hover = series.hover[i] if series.hover else ""
        tip = _tip(chart, series, i, hover)
        pieces[-1].append(Mark(_along(i, chart), up, low, high, tip))
    return LineView(
        colour(*series.role),
        _SYMBOLS[index % len(_SYMBOLS)],
        tuple(
            " ".join(f"{mark.along:g},{100 - mark.up:g}" for mark in piece)
            for piece in pieces
            if len(piece) > 1
        ),
        tuple(mark for piece in pieces for mark in piece),
    )


def _tip(chart: Chart, series: Series, index: int, hover: str) -> str:
    value = series.values[index]
    interval = words.interval(value)
    details = [words.value(value), interval and f"({interval})"]
    said = " ".join(part for part in details if part)
    return ", ".join(part for part in (chart.categories[index], series.name, said, hover) if part)


def _along(index: int, chart: Chart) -> float:
    return round(100 * (index + 0.5) / len(chart.categories), 3)


def _some(names: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """Evenly chosen names, the last among them: as many as have room below an axis."""
    step = -(-len(names) // _MOST_NAMES)
    return list(names[::-1][:: step or 1][::-1])
