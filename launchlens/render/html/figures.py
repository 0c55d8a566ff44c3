"""Charts of a document as the page shows them: drawn, in words, and as a table."""

from __future__ import annotations

from collections.abc import Callable

from launchlens.render.html.bars import bars, changes, stacked
from launchlens.render.html.palette import colour
from launchlens.render.html.upright import columns, lines
from launchlens.render.html.views import (
    BarsView,
    CellView,
    FigureView,
    Head,
    RowView,
    TableView,
    UprightView,
)
from launchlens.report import words
from launchlens.report.pictures import Chart

_MOST_HEARD = 8
_LONGEST_HEARD = 40
_FORMS: dict[str, Callable[[Chart], tuple[BarsView, ...] | UprightView]] = {
    "bars": bars,
    "stacked": stacked,
    "changes": changes,
    "columns": columns,
    "lines": lines,
}


def figure(chart: Chart, anchor: str) -> FigureView:
    """A chart of any form as the page shows it; ``anchor`` is its element's id."""
    several = len(chart.series) > 1 or chart.form == "lines"
    return FigureView(
        anchor,
        chart.title,
        _summary(chart),
        chart.caption,
        chart.form,
        _FORMS[chart.form](chart),
        tuple((colour(*s.role), s.name, s.words) for s in chart.series) if several else (),
        None if chart.tabled else _table(chart),
    )


def _table(chart: Chart) -> TableView:
    """The values of a chart: a row for each category, a column for each series."""
    heads = (Head("", style="text"), *(Head(one.name) for one in chart.series))
    rows = tuple(
        RowView(name, tuple(CellView(words.value(one.values[i]), one.name) for one in chart.series))
        for i, name in enumerate(chart.full or chart.categories)
    )
    return TableView(chart.title, (heads,), rows, stack=len(chart.series) > 3)


def _summary(chart: Chart) -> str:
    """A chart in words, for a screen reader: the first categories of each series, or last runs."""
    names = chart.short or chart.categories
    part = slice(-_MOST_HEARD, None) if chart.form == "lines" else slice(_MOST_HEARD)
    heard = range(len(names))[part]
    parts = [
        f"{one.name}: "
        + ", ".join(
            f"{words.plain(names[i], _LONGEST_HEARD)} {words.value(one.values[i])}" for i in heard
        )
        for one in chart.series
    ]
    return f"{chart.title}. {'; '.join(parts)}."
