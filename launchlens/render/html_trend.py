"""The page of a figure over stored runs: a line for each variant, a point for each run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from launchlens.records.trend import TrendPoint, TrendSeries
from launchlens.render.format import format_interval, plain
from launchlens.render.html_figures import AXIS, Series, base_layout, series_table
from launchlens.render.html_figures import plain as plotly_text
from launchlens.render.html_page import FigureView, Page, SectionView, Tile, TileValue
from launchlens.render.html_palette import side_colour
from launchlens.render.trend import describe_change, describe_course, source_words, trend_value

_HASH = 7
_MOST_SENTENCES = 4
_MARKS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")


def trend_page(series: Sequence[TrendSeries]) -> Page:
    """The page's records: a section for all variants that ran alike, each with its chart.

    Args:
        series: from the store, at least one; all of the same figure.
    """
    metric = series[0].metric
    groups: dict[tuple[str | None, ...], list[TrendSeries]] = {}
    for item in series:
        key = (item.model, item.phase, item.shape, item.gpu, item.source)
        groups.setdefault(key, []).append(item)
    blocks = [_section(metric, members, i) for i, members in enumerate(groups.values())]
    return Page(
        title=f"launchlens: {metric} over runs",
        sentences=tuple(_sentences(series)),
        tiles=tuple(tile for item in series for tile in _tiles(item)),
        notices=(),
        blocks=tuple(blocks),
    )


def _sentences(series: Sequence[TrendSeries]) -> list[str]:
    """The course of each line; of many lines only how many there are."""
    metric = plain(series[0].metric)
    if len(series) > _MOST_SENTENCES:
        runs = {point.run_id for item in series for point in item.points}
        return [f"{metric}: {len(series)} lines, {len(runs)} runs"]
    said = []
    for item in series:
        names = [item.model, item.variant, item.phase and f"{item.phase} step"]
        name = ", ".join(plain(part) for part in names if part)
        said.append(f"{metric} of {name}: {describe_course(item)}")
    return said


def _tiles(series: TrendSeries) -> tuple[Tile, ...]:
    """First and last known value; none where there is nothing known."""
    known = series.known
    if not known:
        return ()
    ends = known if len(known) == 1 else (known[0], known[-1])
    title = ", ".join(part for part in (series.model, series.variant, series.phase) if part)
    values = tuple(TileValue(_tick(p), trend_value(series, p.value)) for p in ends)
    return (Tile(title, values),)


def _section(metric: str, members: Sequence[TrendSeries], index: int) -> SectionView:
    first = members[0]
    runs = _runs(members)
    parts = (first.phase and f"{first.phase} step", first.shape, first.gpu)
    said = ", ".join([*(plain(part) for part in parts if part), source_words(first.source)])
    figure = _figure(metric, members, runs, index)
    return SectionView(
        f"trend-section-{index}",
        plain(first.model or "unknown model"),
        paragraphs=(f"{said[:1].upper()}{said[1:]}.",),
        figures=(figure,),
    )


def _runs(members: Sequence[TrendSeries]) -> list[TrendPoint]:
    """A point of each run, in the order in which the runs began."""
    points = {point.run_id: point for item in members for point in item.points}
    return sorted(points.values(), key=lambda point: (point.created, point.run_id))


def _figure(
    metric: str, members: Sequence[TrendSeries], runs: Sequence[TrendPoint], index: int
) -> FigureView:
    place = {run.run_id: i for i, run in enumerate(runs)}
    lines = [_line(item, place, i) for i, item in enumerate(members)]
    ticks = [_tick(run) for run in runs]
    _, axis = AXIS[members[0].unit]
    layout = base_layout(330, "")
    layout["margin"] = {"l": 56, "r": 12, "t": 10, "b": 60}
    layout["xaxis"] |= {
        "tickmode": "array",
        "tickvals": _some(list(range(len(runs)))),
        "ticktext": _some([plotly_text(tick).replace(" ", "<br>", 1) for tick in ticks]),
        "range": [-0.5, len(runs) - 0.5],
        "showgrid": False,
        "tickangle": 0,
    }
    layout["yaxis"] = {
        "title": {"text": axis, "standoff": 6},
        "rangemode": "tozero",
        "fixedrange": True,
        "gridcolor": "#88888844",
        "zeroline": False,
    }
    by_run = [{p.run_id: p.value for p in item.points} for item in members]
    columns = [
        Series(item.variant, side_colour(i + 1), tuple(by_run[i].get(r.run_id) for r in runs))
        for i, item in enumerate(members)
    ]
    title = f"{metric} by run"
    names = [f"{_tick(run)} ({run.run_id})" for run in runs]
    caption = (
        "Medians; the bars are 95% intervals where they are known. "
        "A + behind a commit: files were changed. A gap: the figure is unknown."
    )
    legend = tuple((column.colour, column.name) for column in columns)
    summary = f"{title}. {'; '.join(_course(item) for item in members)}."
    table = series_table(title, names, columns, members[0].unit)
    return FigureView(f"trend-{index}", title, summary, caption, lines, layout, legend, table)


def _line(series: TrendSeries, place: dict[str, int], index: int) -> dict[str, Any]:
    scale, _ = AXIS[series.unit]
    points = series.points
    values = [None if p.value is None else p.value / scale for p in points]
    colour = side_colour(index + 1)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plotly_text(series.variant),
        "x": [place[p.run_id] for p in points],
        "y": values,
        "connectgaps": False,
        "line": {"color": colour, "width": 2},
        "marker": {"color": colour, "size": 9, "symbol": _MARKS[index % len(_MARKS)]},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [_reach(p.ci_high, p.value, scale) for p in points],
            "arrayminus": [_reach(p.value, p.ci_low, scale) for p in points],
            "thickness": 1.2,
            "width": 4,
        },
        "customdata": [[plotly_text(text) for text in _hover(series, p)] for p in points],
        "hovertemplate": "%{customdata[0]}<br><b>%{customdata[1]}</b> %{customdata[2]}"
        "<extra>%{fullData.name}</extra>",
    }


def _reach(upper: float | None, lower: float | None, scale: float) -> float:
    """Length of one half of an interval's bar; 0 where the interval is not known."""
    return 0.0 if upper is None or lower is None else (upper - lower) / scale


def _hover(series: TrendSeries, point: TrendPoint) -> tuple[str, str, str]:
    interval = format_interval(point.ci_low, point.ci_high, series.unit)
    details = [f"({interval})"] if interval else []
    if change := describe_change(series, point):
        details.append(f"{change} since the run before")
    return f"{_tick(point)}, {point.run_id}", trend_value(series, point.value), ", ".join(details)


def _course(series: TrendSeries) -> str:
    """A line in words, for those who hear it: its last values."""
    last = [f"{_tick(p)} {trend_value(series, p.value)}" for p in series.points[-8:]]
    return f"{plain(series.variant)}: {', '.join(last)}"


def _tick(point: TrendPoint) -> str:
    commit = (point.git_commit or "")[:_HASH] or "no commit"
    return f"{point.created[:10]} {plain(commit)}{'+' if point.git_dirty else ''}"


def _some(items: list[Any], most: int = 5) -> list[Any]:
    """Evenly chosen items, the last among them: as many as have room below an axis."""
    step = -(-len(items) // most)
    return items[::-1][::step][::-1]
