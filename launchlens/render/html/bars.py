"""Horizontal bars: one for each series of a category, or one made of all of them."""

from __future__ import annotations

from launchlens.render.html.palette import colour, text_on
from launchlens.render.html.scale import largest, share
from launchlens.render.html.views import BarsView, Part
from launchlens.report import words
from launchlens.report.pictures import Chart, Series


def bars(chart: Chart) -> tuple[BarsView, ...]:
    """A bar for each series; the word "unknown" where one would be: no bar must not read as 0."""
    most = largest(value for one in chart.series for value in one.values)
    return _rows(chart, [tuple(_bar(s, i, most) for s in chart.series) for i in _range(chart)])


def stacked(chart: Chart) -> tuple[BarsView, ...]:
    """A bar made of the series; a side of which nothing is known has none, and says so."""
    sums = [sum(max(0, s.values[i].number or 0) for s in chart.series) for i in _range(chart)]
    most = max(sums, default=0) or 1
    rows = [
        tuple(_part(one, i, most) for one in chart.series if (one.values[i].number or 0) > 0)
        for i in _range(chart)
    ]
    return _rows(chart, rows)


def changes(chart: Chart) -> tuple[BarsView, ...]:
    """A bar as long as the change, in the colour of better (less) or worse (more)."""
    most = largest(value for one in chart.series for value in one.values)
    rows = []
    for i in _range(chart):
        parts = []
        for one in chart.series:
            value = one.values[i]
            style = "worse" if (value.number or 0) > 0 else "better"
            sign = words.BOUND_SIGNS.get(value.bound, "")
            text = "" if value.number is None else sign + words.difference(value.number, value.unit)
            size = share(abs(value.number or 0), most)
            hover = one.hover[i] if one.hover else ""
            parts.append(Part(size, text=text or words.UNKNOWN, tip=hover, style=style))
        rows.append(tuple(parts))
    return _rows(chart, rows)


def _rows(chart: Chart, parts: list[tuple[Part, ...]]) -> tuple[BarsView, ...]:
    return tuple(
        BarsView(
            name,
            parts[i],
            chart.full[i] if chart.full else "",
            colour(*chart.roles[i]) if chart.roles else "",
            chart.beside[i] if chart.beside else "",
            chart.chips[i] if chart.chips else "",
        )
        for i, name in enumerate(chart.categories)
    )


def _bar(series: Series, index: int, most: float) -> Part:
    value = series.values[index]
    known = value.number is not None
    said = words.value(value) if known else f"{series.name}: {words.value(value)}"
    return Part(
        share(value.number or 0, most),
        colour(*series.role),
        text=said,
        tip=f"{series.name}: {words.value(value)}",
        style="" if known else "unknown",
    )


def _part(series: Series, index: int, most: float) -> Part:
    drawn, said = colour(*series.role), words.value(series.values[index])
    size = share(series.values[index].number or 0, most)
    return Part(size, drawn, text_on(drawn), said, f"{_heard(series)}: {said}")


def _heard(series: Series) -> str:
    return f"{series.name} ({series.words})" if series.words else series.name


def _range(chart: Chart) -> range:
    return range(len(chart.categories))
