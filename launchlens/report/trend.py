"""A figure over stored runs as a document: its course in words, its points, a chart."""

from __future__ import annotations

from collections.abc import Sequence

from launchlens.catalogue import bound_under
from launchlens.plural import counted
from launchlens.records.metric import Bound
from launchlens.records.trend import Trend, TrendPoint, TrendSeries
from launchlens.report.cells import Value
from launchlens.report.changes import percent
from launchlens.report.document import Course, Document, Point, Section, Text
from launchlens.report.pictures import Chart, Series
from launchlens.report.words import UNKNOWN, difference, format_value, plain

_MOST_SENTENCES = 4
_HASH = 7


def trend_document(series: Sequence[TrendSeries]) -> Document:
    """A section for all variants that ran alike; at least one series, all of the same figure."""
    groups: dict[tuple[str | None, ...], list[TrendSeries]] = {}
    for one in series:
        key = (one.model, one.phase, one.shape, one.gpu, one.source)
        groups.setdefault(key, []).append(one)
    return Document(
        kind="trend",
        title=f"launchlens: {series[0].metric} over runs",
        answers=tuple(_sentences(series)),
        answers_shown="page",
        tiles=tuple(tile for one in series if (tile := _tile(one)))
        if len(series) > _MOST_SENTENCES
        else (),
        sections=tuple(_section(members, i) for i, members in enumerate(groups.values())),
        record=Trend(series=tuple(series)),
    )


def _sentences(series: Sequence[TrendSeries]) -> list[str]:
    """The course of each line; of many lines only how many there are."""
    metric = plain(series[0].metric)
    if len(series) > _MOST_SENTENCES:
        runs = {point.run_id for one in series for point in one.points}
        return [f"{metric}: {counted(len(series), 'line')}, {counted(len(runs), 'run')}"]
    said = []
    for one in series:
        names = [one.model, one.variant, one.phase and f"{one.phase} step"]
        name = ", ".join(plain(part) for part in names if part)
        said.append(f"{metric} of {name}: {describe_course(one)}")
    return said


def _tile(series: TrendSeries) -> tuple[str, tuple[tuple[str, Value], ...]] | None:
    """First and last known value; none where there is nothing known."""
    known = series.known
    if not known:
        return None
    ends = known if len(known) == 1 else (known[0], known[-1])
    title = ", ".join(part for part in (series.model, series.variant, series.phase) if part)
    return title, tuple((_run_name(point), _value(series, point)) for point in ends)


def _section(members: Sequence[TrendSeries], index: int) -> Section:
    first = members[0]
    parts = (first.phase and f"{first.phase} step", first.shape, first.gpu)
    said = ", ".join([*(plain(part) for part in parts if part), _source_words(first.source)])
    return Section(
        f"trend-section-{index}",
        plain(first.model or "unknown model"),
        (
            Text((f"{said[:1].upper()}{said[1:]}.",), prominence="page"),
            _lines(members, index),
            *(_course(one) for one in members),
        ),
    )


def _lines(members: Sequence[TrendSeries], index: int) -> Chart:
    """A line for each variant, over all runs in the order in which they began."""
    found = {point.run_id: point for one in members for point in one.points}
    runs = sorted(found.values(), key=lambda point: (point.created, point.run_id))
    return Chart(
        f"trend-{index}",
        f"{members[0].metric} by run",
        tuple(f"{_run_name(run)} ({run.run_id})" for run in runs),
        tuple(_line(one, i, runs) for i, one in enumerate(members)),
        members[0].unit,
        "lines",
        "Medians; the bars are 95% intervals where they are known. "
        "A + behind a commit: files were changed. A gap: the figure is unknown.",
        short=tuple(_run_name(run) for run in runs),
    )


def _line(series: TrendSeries, index: int, runs: Sequence[TrendPoint]) -> Series:
    points = {point.run_id: point for point in series.points}
    ran = [points.get(run.run_id) for run in runs]
    changes = [describe_change(series, point) if point else "" for point in ran]
    return Series(
        series.variant,
        tuple(_value(series, point) if point else Value(None, series.unit) for point in ran),
        ("side", str(index + 1)),
        hover=tuple(f"{said} since the run before" if said else "" for said in changes),
        absent=tuple(i for i, point in enumerate(ran) if not point),
    )


def _run_name(point: TrendPoint) -> str:
    """A run by its day and commit."""
    return f"{point.created[:10]} {_commit(point)}"


def _commit(point: TrendPoint) -> str:
    """A short hash, with a + where files were changed."""
    commit = (point.git_commit or "")[:_HASH] or "no commit"
    return f"{commit}{'+' if point.git_dirty else ''}"


def _course(series: TrendSeries) -> Course:
    named = [series.model, series.variant, series.phase, series.shape, series.gpu]
    title = ", ".join(plain(part) for part in [*named, _source_words(series.source)] if part)
    known = [point.value for point in series.points if point.value is not None]
    said = describe_course(series)
    if len(set(known)) > 1:
        low, high = (
            format_value(number, series.unit, _bound(series)) for number in (min(known), max(known))
        )
        said += f", between {low} and {high}"
    points = (
        Point(
            point.created[:10],
            plain(_commit(point)),
            _value(series, point),
            describe_change(series, point),
        )
        for point in series.points
    )
    return Course(f"{plain(series.metric)}: {title}", said, tuple(points))


def describe_course(series: TrendSeries) -> str:
    """From the first known value to the last: "47.4 ms → 46.0 ms (−3.0%) over 3 runs"."""
    known = series.known
    runs = counted(len(series.points), "run")
    if not known:
        return f"{UNKNOWN} in {runs}"
    first, last = known[0], known[-1]
    end = format_value(last.value, series.unit, _bound(series))
    if len(known) == 1:
        return f"{end} in {runs}"
    said = _change(series, last.value, first.value)
    start = format_value(first.value, series.unit, _bound(series))
    return f"{start} → {end}{f' ({said})' if said else ''} over {runs}"


def describe_change(series: TrendSeries, point: TrendPoint) -> str:
    """A point's change since the run before; fractions in percentage points."""
    if point.value is None or point.change is None:
        return ""
    return _change(series, point.value, point.value - point.change)


def _change(series: TrendSeries, value: float | None, before: float | None) -> str:
    """Nothing where there is no change to tell: two bounds have none, nor has a rise from 0."""
    if value is None or before is None or _bound(series):
        return ""
    if series.unit == "fraction":
        return difference(value - before, series.unit)
    return percent(value / before - 1) if before else ""


def _value(series: TrendSeries, point: TrendPoint) -> Value:
    bound = point.bound or bound_under(series.metric, series.source)
    return Value(point.value, series.unit, bound, point.ci_low, point.ci_high)


def _bound(series: TrendSeries) -> Bound | None:
    """What whole-graph tracing makes of the figure, or of any of its points."""
    return next((p.bound for p in series.points if p.bound), None) or bound_under(
        series.metric, series.source
    )


def _source_words(kind: str) -> str:
    """How a figure was measured: without a profiler, or in a trace of some kind."""
    return kind if kind == "untraced" else f"traced ({kind})"
