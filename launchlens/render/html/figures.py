"""Charts of a document as the page shows them: plotly's figure, and the same in words and table."""

from __future__ import annotations

from launchlens.render.html.palette import colour
from launchlens.render.html.plots import LONGEST, draw, shorten
from launchlens.render.html.views import CellView, FigureView, Head, RowView, TableView
from launchlens.report import words
from launchlens.report.document import Chart

_MOST_HEARD = 8


def figure(chart: Chart, anchor: str) -> FigureView:
    """A chart of any form as the page shows it; ``anchor`` is its element's id."""
    data, layout = draw(chart)
    # The legend is the page's: it wraps, prints and is read aloud as any text.
    shown = chart.series if len(chart.series) > 1 or chart.form == "lines" else ()
    bars = chart.form in ("bars", "stacked")
    return FigureView(
        anchor,
        chart.title,
        _summary(chart),
        chart.caption,
        data,
        layout,
        tuple((colour(*one.role), one.words or one.name) for one in shown),
        _table(chart),
        tuple(shorten(name, LONGEST) for name in chart.categories) if bars else (),
    )


def _table(chart: Chart) -> TableView:
    """The values of a chart: a row for each category, a column for each series."""
    heads = (Head("", style="text"), *(Head(one.name) for one in chart.series))
    rows = tuple(
        RowView(name, tuple(CellView(words.value(one.values[i]), one.name) for one in chart.series))
        for i, name in enumerate(chart.categories)
    )
    return TableView(chart.title, (heads,), rows, stack=len(chart.series) > 3)


def _summary(chart: Chart) -> str:
    """A chart in words, for a screen reader: the first categories of each series, or last runs."""
    names = chart.short or chart.categories
    part = slice(-_MOST_HEARD, None) if chart.form == "lines" else slice(_MOST_HEARD)
    heard = range(len(names))[part]
    parts = [
        f"{one.name}: "
        + ", ".join(f"{shorten(names[i], 40)} {words.value(one.values[i])}" for i in heard)
        for one in chart.series
    ]
    return f"{chart.title}. {'; '.join(parts)}."
