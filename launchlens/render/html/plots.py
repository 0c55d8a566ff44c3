"""Charts of a document as plotly draws them: data and layout, the numbers the document's own.

Times are drawn in milliseconds and fractions in per cent; that is all that happens to a value.
Labels of bars stand above them, inside the plot, so that long names need no margin and a phone
shows the same picture as a desk.
"""

from __future__ import annotations

from typing import Any

from launchlens.render.html.palette import colour, text_on
from launchlens.report import words
from launchlens.report.cells import Number, Value
from launchlens.report.document import Chart, Series

#: What a plotted quantity is divided by, and its axis' words, by unit.
_AXIS = {
    "ns": (1e6, "milliseconds"),
    "fraction": (0.01, "per cent"),
    "count": (1.0, ""),
    "per_s": (1.0, "per second"),
    "bytes": (1.0, "bytes"),
}
_MARKS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")
_MOST_TICKS = 5
LONGEST = 400
"""Characters of a name that are shown on hover."""

Drawn = tuple[list[dict[str, Any]], dict[str, Any]]
"""Data and layout of a plotly figure."""


def draw(chart: Chart) -> Drawn:
    """A chart of any form."""
    return {"columns": _columns, "lines": _lines}.get(chart.form, _bars)(chart)


def plotly_text(text: str) -> str:
    """Text that plotly shows as it is: it reads a little markup in labels otherwise."""
    cleaned = words.clean(text)
    return cleaned.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def shorten(text: str, most: int) -> str:
    """The first ``most`` characters, with an ellipsis where some are left out."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def _bars(chart: Chart) -> Drawn:
    """Horizontal bars: a line of bars for each category, its name above, series by colour.

    Stacked: one bar made of the series, else a bar beside a bar.
    """
    stacked = chart.form == "stacked"
    names = [plotly_text(shorten(name, LONGEST)) for name in chart.categories]
    data: list[dict[str, Any]] = [
        {
            "type": "bar",
            "orientation": "h",
            "name": plotly_text(one.name),
            "y": list(range(len(names))),
            "x": _scaled(chart, one),
            "marker": {"color": colour(*one.role), "line": {"width": 0}},
            "text": _texts(one),
            "textposition": "inside" if stacked else "outside",
            "insidetextanchor": "middle",
            "textangle": 0,
            "textfont": {"size": 11},
            "insidetextfont": {"color": text_on(colour(*one.role)), "size": 11},
            "constraintext": "inside",
            "cliponaxis": False,
            "customdata": [list(pair) for pair in zip(names, _texts(one), strict=True)],
            "hovertemplate": "%{customdata[0]}<br><b>%{customdata[1]}</b>"
            "<extra>%{fullData.name}</extra>",
        }
        for one in chart.series
    ]
    bar = 26 if stacked else max(13, min(20, 40 // max(1, len(data)))) * len(data)
    row = 22 + bar
    layout = _layout(52 + row * len(names), _AXIS[chart.unit][1])
    layout["barmode"] = "stack" if stacked else "group"
    layout["bargap"] = 1 - bar / row
    layout["yaxis"] = {
        "range": [len(names) - 0.5 + 0.1, -0.5 - 11 / row],
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
            "text": plotly_text(shorten(name, 48)),
            "hovertext": names[i],
        }
        for i, name in enumerate(chart.categories)
    ]
    if stacked:
        # A part too narrow for its label goes without: the hover text and the table have it.
        layout["uniformtext"] = {"mode": "hide", "minsize": 10}
    else:
        most = max((x for one in data for x in one["x"] if x is not None), default=1)
        layout["xaxis"]["range"] = [0, (most or 1) * 1.2]
        layout["annotations"] += _unknown_marks(chart, 1 - layout["bargap"])
    return data, layout


def _unknown_marks(chart: Chart, width: float) -> list[dict[str, Any]]:
    """The word "unknown" where a bar would be: no bar must not read as zero."""
    return [
        {
            "xref": "paper",
            "x": 0,
            "xanchor": "left",
            "y": i - width / 2 + (k + 0.5) * width / len(chart.series),
            "yanchor": "middle",
            "showarrow": False,
            "font": {"size": 11},
            "text": f"<i>{plotly_text(f'{shorten(one.name, 30)}: {words.value(value)}')}</i>",
        }
        for k, one in enumerate(chart.series)
        for i, value in enumerate(one.values)
        if value.number is None
    ]


def _columns(chart: Chart) -> Drawn:
    """Upright columns over a few short, ordered categories, such as the bins of a histogram."""
    data: list[dict[str, Any]] = [
        {
            "type": "bar",
            "name": plotly_text(one.name),
            "x": [plotly_text(name) for name in chart.categories],
            "y": _scaled(chart, one),
            "marker": {"color": colour(*one.role)},
            "customdata": _texts(one),
            "hovertemplate": "%{x}<br><b>%{customdata}</b><extra>%{fullData.name}</extra>",
        }
        for one in chart.series
    ]
    layout = _upright_layout(270, chart)
    layout["margin"] = {"l": 48, "r": 8, "t": 10, "b": 46}
    layout["xaxis"]["type"] = "category"
    layout["barmode"] = "group"
    layout["bargap"] = 0.3
    return data, layout


def _lines(chart: Chart) -> Drawn:
    """A line for each series, broken where a value is unknown; intervals are bars."""
    data = [_line(chart, one, i) for i, one in enumerate(chart.series)]
    names = chart.short or chart.categories
    layout = _upright_layout(330, chart)
    layout["margin"] = {"l": 56, "r": 12, "t": 10, "b": 60}
    layout["xaxis"] |= {
        "tickmode": "array",
        "tickvals": _some(list(range(len(names)))),
        "ticktext": _some([plotly_text(name).replace(" ", "<br>", 1) for name in names]),
        "range": [-0.5, len(names) - 0.5],
    }
    return data, layout


def _line(chart: Chart, series: Series, index: int) -> dict[str, Any]:
    scale, _ = _AXIS[chart.unit]
    at = [i for i in range(len(chart.categories)) if i not in series.absent]
    values = [series.values[i] for i in at]
    hovers = [series.hover[i] if series.hover else "" for i in at]
    drawn = colour(*series.role)
    scaled = _scaled(chart, series)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plotly_text(series.name),
        "x": at,
        "y": [scaled[i] for i in at],
        "connectgaps": False,
        "line": {"color": drawn, "width": 2},
        "marker": {"color": drawn, "size": 9, "symbol": _MARKS[index % len(_MARKS)]},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [_reach(v.high, v.number, scale) for v in values],
            "arrayminus": [_reach(v.number, v.low, scale) for v in values],
            "thickness": 1.2,
            "width": 4,
        },
        "customdata": [
            [
                plotly_text(text)
                for text in (chart.categories[i], words.value(value), _details(value, hover))
            ]
            for i, value, hover in zip(at, values, hovers, strict=True)
        ],
        "hovertemplate": "%{customdata[0]}<br><b>%{customdata[1]}</b> %{customdata[2]}"
        "<extra>%{fullData.name}</extra>",
    }


def _details(value: Value, hover: str) -> str:
    interval = words.interval(value)
    return ", ".join(part for part in (interval and f"({interval})", hover) if part)


def _reach(upper: Number | None, lower: Number | None, scale: float) -> float:
    """Length of one half of an interval's bar; 0 where the interval is not known."""
    return 0.0 if upper is None or lower is None else (upper - lower) / scale


def _some(items: list[Any]) -> list[Any]:
    """Evenly chosen items, the last among them: as many as have room below an axis."""
    step = -(-len(items) // _MOST_TICKS)
    return items[::-1][:: step or 1][::-1]


def _scaled(chart: Chart, series: Series) -> list[float | None]:
    scale, _ = _AXIS[chart.unit]
    return [None if value.number is None else value.number / scale for value in series.values]


def _texts(series: Series) -> list[str]:
    return [plotly_text(words.value(value)) for value in series.values]


def _layout(height: int, axis: str) -> dict[str, Any]:
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
            "title": {"text": plotly_text(axis), "standoff": 6},
            "rangemode": "tozero",
            "gridcolor": "#88888844",
            "zeroline": False,
            "fixedrange": True,
            "nticks": 7,
        },
    }


def _upright_layout(height: int, chart: Chart) -> dict[str, Any]:
    layout = _layout(height, chart.axis)
    layout["xaxis"] |= {"showgrid": False, "tickangle": 0}
    layout["yaxis"] = {
        "title": {"text": _AXIS[chart.unit][1], "standoff": 6},
        "rangemode": "tozero",
        "fixedrange": True,
        "gridcolor": "#88888844",
        "zeroline": False,
    }
    return layout
