"""Charts of a report as plotly figures: plain dicts whose numbers are the record's own.

Times are drawn in milliseconds and fractions in per cent; that is all that happens to a value.
Labels of bars stand above them, inside the plot, so that long names need no margin and a phone
shows the same picture as a desk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from launchlens.render.format import format_value
from launchlens.render.html_page import CellView, FigureView, Head, RowView, TableView
from launchlens.render.html_palette import side_colour, text_on

#: What a plotted quantity is divided by, and its axis' words, by unit.
AXIS = {
    "ns": (1e6, "milliseconds"),
    "fraction": (0.01, "per cent"),
    "count": (1.0, ""),
    "per_s": (1.0, "per second"),
    "bytes": (1.0, "bytes"),
}


@dataclass(frozen=True, slots=True)
class Series:
    """Values of one name (a side, a cause) over the categories of a chart; None is unknown.

    ``words`` explains the name in the legend.
    """

    name: str
    colour: str
    values: tuple[float | int | None, ...]
    words: str = ""


def bars_by_category(
    figure_id: str,
    title: str,
    caption: str,
    categories: Sequence[str],
    series: Sequence[Series],
    *,
    unit: str,
    stacked: bool = False,
) -> FigureView:
    """Horizontal bars: a line of bars for each category, its name above, series by colour.

    Args:
        figure_id: id of the figure's element.
        title: heading.
        caption: what stands below.
        categories: names, in full; shown shortened, whole on hover.
        series: values for each category, in ``unit``.
        unit: as in `launchlens.records.comparison.Row`.
        stacked: one bar made of the series, else a bar beside a bar.
    """
    scale, axis = AXIS[unit]
    data: list[dict[str, Any]] = [
        {
            "type": "bar",
            "orientation": "h",
            "name": plain(one.name),
            "y": list(range(len(categories))),
            "x": [None if v is None else v / scale for v in one.values],
            "marker": {"color": one.colour, "line": {"width": 0}},
            "text": [format_value(v, unit) for v in one.values],
            "textposition": "inside" if stacked else "outside",
            "insidetextanchor": "middle",
            "textangle": 0,
            "textfont": {"size": 11},
            "insidetextfont": {"color": text_on(one.colour), "size": 11},
            "constraintext": "inside",
            "cliponaxis": False,
            "customdata": [
                [plain(shorten(name, 400)), format_value(v, unit)]
                for name, v in zip(categories, one.values, strict=True)
            ],
            "hovertemplate": "%{customdata[0]}<br><b>%{customdata[1]}</b>"
            "<extra>%{fullData.name}</extra>",
        }
        for one in series
    ]
    bar = 26 if stacked else max(13, min(20, 40 // max(1, len(series)))) * len(series)
    row = 22 + bar
    layout: dict[str, Any] = base_layout(52 + row * len(categories), axis)
    layout["barmode"] = "stack" if stacked else "group"
    layout["bargap"] = 1 - bar / row
    if stacked:
        # A part too narrow for its label goes without: the hover text and the table have it.
        layout["uniformtext"] = {"mode": "hide", "minsize": 10}
    else:
        most = max((v / scale for one in series for v in one.values if v is not None), default=1)
        layout["xaxis"]["range"] = [0, (most or 1) * 1.2]
    layout["yaxis"] = {
        "range": [len(categories) - 0.5 + 0.1, -0.5 - 11 / row],
        "visible": False,
        "fixedrange": True,
    }
    layout["annotations"] = [
        {
            "xref": "paper",
            "x": 0,
            "y": i,
            "yshift": bar / 2 + 1,
            "yanchor": "bottom",
            "xanchor": "left",
            "showarrow": False,
            "align": "left",
            "font": {"size": 12},
            "text": plain(shorten(name, 48)),
            "hovertext": plain(shorten(name, 400)),
        }
        for i, name in enumerate(categories)
    ]
    if not stacked:
        layout["annotations"] += _unknown_marks(series, 1 - layout["bargap"])
    figure = _figure(figure_id, title, caption, categories, series, unit, data, layout)
    return replace(figure, labels=tuple(shorten(name, 400) for name in categories))


def _unknown_marks(series: Sequence[Series], width: float) -> list[dict[str, Any]]:
    """The word "unknown" where a bar would be: no bar must not read as zero."""
    return [
        {
            "xref": "paper",
            "x": 0,
            "xanchor": "left",
            "y": i - width / 2 + (k + 0.5) * width / len(series),
            "yanchor": "middle",
            "showarrow": False,
            "font": {"size": 11},
            "text": f"<i>{plain(shorten(one.name, 30))}: unknown</i>",
        }
        for k, one in enumerate(series)
        for i, value in enumerate(one.values)
        if value is None
    ]


def columns_by_category(
    figure_id: str,
    title: str,
    caption: str,
    categories: Sequence[str],
    series: Sequence[Series],
    *,
    unit: str,
    axis_title: str = "",
) -> FigureView:
    """Upright columns over a few short, ordered categories, such as the bins of a histogram."""
    scale, axis = AXIS[unit]
    data: list[dict[str, Any]] = [
        {
            "type": "bar",
            "name": plain(one.name),
            "x": list(categories),
            "y": [None if v is None else v / scale for v in one.values],
            "marker": {"color": one.colour},
            "customdata": [format_value(v, unit) for v in one.values],
            "hovertemplate": "%{x}<br><b>%{customdata}</b><extra>%{fullData.name}</extra>",
        }
        for one in series
    ]
    layout = base_layout(270, axis_title)
    layout["margin"] = {"l": 48, "r": 8, "t": 10, "b": 46}
    layout["xaxis"]["showgrid"] = False
    layout["xaxis"]["tickangle"] = 0
    layout["xaxis"]["type"] = "category"
    layout["yaxis"] = {
        "title": {"text": axis, "standoff": 6},
        "rangemode": "tozero",
        "fixedrange": True,
        "gridcolor": "#88888844",
        "zeroline": False,
    }
    layout["barmode"] = "group"
    layout["bargap"] = 0.3
    return _figure(figure_id, title, caption, categories, series, unit, data, layout)


def base_layout(height: int, axis: str) -> dict[str, Any]:
    """What all charts share; colours of text and grid come from the page's style sheet."""
    return {
        "height": height,
        "margin": {"l": 2, "r": 26, "t": 6, "b": 44},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, sans-serif", "size": 12},
        "dragmode": False,
        "hovermode": "closest",
        "hoverlabel": {"align": "left", "namelength": 40},
        "showlegend": False,
        "xaxis": {
            "title": {"text": axis, "standoff": 6},
            "rangemode": "tozero",
            "gridcolor": "#88888844",
            "zeroline": False,
            "fixedrange": True,
            "nticks": 7,
        },
    }


def series_table(
    caption: str, categories: Sequence[str], series: Sequence[Series], unit: str
) -> TableView:
    """The values of a chart as a table: a row for each category, a column for each series."""
    head = (Head("", style="text"), *(Head(one.name) for one in series))
    rows = tuple(
        RowView(
            name,
            tuple(CellView(format_value(one.values[i], unit), one.name) for one in series),
        )
        for i, name in enumerate(categories)
    )
    return TableView(caption, (head,), rows, stack=len(series) > 3)


def plain(text: str) -> str:
    """Text that plotly shows as it is: it reads a little markup in labels otherwise."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")


def shorten(text: str, most: int) -> str:
    """The first ``most`` characters, with an ellipsis where some are left out."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def capitalized(title: str) -> str:
    """A title that begins a cell or sentence: its first letter large, the others as they are."""
    return title[:1].upper() + title[1:]


def side_series(
    names: Sequence[str], values: Sequence[Sequence[float | int | None]]
) -> list[Series]:
    """A series for each side, in the sides' colours."""
    return [
        Series(name, side_colour(i), tuple(row))
        for i, (name, row) in enumerate(zip(names, values, strict=True))
    ]


def _figure(
    figure_id: str,
    title: str,
    caption: str,
    categories: Sequence[str],
    series: Sequence[Series],
    unit: str,
    data: list[dict[str, Any]],
    layout: dict[str, Any],
) -> FigureView:
    # The legend is the page's: it wraps, prints and is read aloud as any text.
    legend = tuple((one.colour, one.words or one.name) for one in series) if len(series) > 1 else ()
    table = series_table(title, categories, series, unit)
    summary = _summary(title, categories, series, unit)
    return FigureView(figure_id, title, summary, caption, data, layout, legend, table)


def _summary(title: str, categories: Sequence[str], series: Sequence[Series], unit: str) -> str:
    """A chart in words: the first categories of each series, for a screen reader."""
    parts = [
        f"{one.name}: "
        + ", ".join(
            f"{shorten(name, 40)} {format_value(value, unit)}"
            for name, value in list(zip(categories, one.values, strict=True))[:8]
        )
        for one in series
    ]
    return f"{title}. " + "; ".join(parts) + "."
