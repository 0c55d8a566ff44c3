"""The report of forecasts: what a step would take as a CUDA graph. The first line is the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from launchlens.records.forecast import Forecast, RangeSaving, StepForecast, Untraced
from launchlens.report.cells import Interval, Name, Value
from launchlens.report.changes import faster, times
from launchlens.report.document import Block, Column, Document, Facts, Row, Section, Table, Text
from launchlens.report.words import LONG, format_ns, format_within, plain, step_words

_WAYS = {
    "cudagraph": "as one CUDA graph",
    "halved": "with half the kernel launches",
}
_BUSY = 0.8
"""A step whose operations make up this part of it leaves little for a graph to save."""
_BROKEN = "as {count} CUDA graphs with {eager} between them"
_VERDICTS = {"faster": "faster", "little": "brings little", "slower": "slower", "unknown": ""}


def forecast_document(forecast: Forecast) -> Document:
    """Forecasts of a trace, phase by phase, with what they rest on."""
    answers = tuple(
        f"{plain(forecast.label)}, {step_words(base.phase)}: {_sentence(first, base)}"
        for base in forecast.untraced
        for first in [f for f in forecast.forecasts if f.phase == base.phase][:1]
    )
    said = tuple(plain(why, LONG) for why in forecast.unanswered)
    return Document(
        kind="forecast",
        title=f"launchlens: forecasts of {forecast.label}",
        answers=answers or tuple(f"No forecast of {said}" for said in said) or ("No forecast.",),
        sections=tuple(_sections(forecast)),
        cautions=(*(said if answers else ()), *(plain(n, LONG) for n in forecast.notes)),
        provenance=(Facts("provenance", tuple(_facts(forecast))),),
        footer=(
            "Times without a profiler, all forecast. Intervals are made to hold 90% of outcomes.",
        )
        if forecast.forecasts
        else (),
        record=forecast,
    )


def closing_lines(forecast: Forecast) -> tuple[str, ...]:
    """What a report on a trace ends with: a line for each phase that could be forecast."""
    several = len(forecast.untraced) > 1
    return tuple(
        (f"{step_words(base.phase)}, " if several else "") + _sentence(first, base)
        for base in forecast.untraced
        for first in [f for f in forecast.forecasts if f.phase == base.phase][:1]
    )


def _sentence(forecast: StepForecast, base: Untraced) -> str:
    """A forecast in a sentence: the time, its interval, and what it brings."""
    if forecast.part:
        return f"the forward pass {_way(forecast)}: {_time(forecast)} (forecast)"
    return f"{_way(forecast)}: {_time(forecast)}, {_brings(forecast, base)} (forecast)"


def _way(forecast: StepForecast) -> str:
    if forecast.variant == "breakable":
        eager = forecast.launches - forecast.graph_launches
        return _BROKEN.format(count=forecast.graph_launches, eager=f"{eager} launches")
    return _WAYS.get(forecast.variant, plain(forecast.variant))


def _time(forecast: StepForecast) -> str:
    return f"about {format_within(forecast.step_ns, forecast.low_ns, forecast.high_ns)}"


def _brings(forecast: StepForecast, base: Untraced) -> str:
    """How many times faster; of an untraced time that is itself estimated the range alone."""
    if forecast.verdict == "faster":
        return _speed(forecast, base)
    if forecast.verdict == "slower":
        return f"slower than the {format_ns(base.step_ns)} that it takes as it is"
    busy = forecast.busy_ns >= _BUSY * base.step_ns
    why = ", since the GPU has work nearly all the time" if busy else ""
    brings = "may bring nothing or lose" if forecast.high_ns > base.step_ns else "brings little"
    return f"which {brings}: as it is it takes {format_ns(base.step_ns)}{why}"


def _speed(forecast: StepForecast, base: Untraced) -> str:
    """How much faster a step becomes; a range where its time as it is is estimated."""
    if base.source != "estimated":
        return faster(base.step_ns, forecast.step_ns)
    if forecast.verdict != "faster":
        return ""
    low, high = (times(x or 0) for x in (forecast.speedup_low, forecast.speedup_high))
    return f"{low.rstrip('×')} to {high} faster"


def _sections(forecast: Forecast) -> Iterator[Section]:
    for i, base in enumerate(forecast.untraced):
        blocks: list[Block] = [_table(forecast, base)]
        if base.source == "estimated":
            blocks.append(Text((_estimate(base),), "remark"))
        if rows := [r for r in forecast.ranges if r.phase == base.phase]:
            blocks.append(_range_table(rows))
        yield Section(f"phase-{i}", step_words(base.phase).capitalize(), tuple(blocks))


def _range_table(ranges: Sequence[RangeSaving]) -> Table:
    return Table(
        "what the step would save if the CPU were free in a range",
        (Column("range", "text"), Column("CPU time"), Column("saved")),
        tuple(
            Row((Name(plain(r.range)), Value(r.host_ns, "ns"), Value(r.saved_ns, "ns")))
            for r in ranges
        ),
        caption="By simulation of one step; a range holds the ranges within it.",
    )


def _estimate(base: Untraced) -> str:
    return (
        f"The {step_words(base.phase)} as it is takes {format_ns(base.traced_ns)} in the trace; "
        "what it takes without tracing is estimated from the number of its calls. "
        "--untraced-ms gives it by hand, and runs of launchlens profile measure it."
    )


def _table(forecast: Forecast, base: Untraced) -> Table:
    given = base.low_ns == base.high_ns
    as_it_is = Row(
        (
            "as it is" + ("" if base.source != "estimated" else " (estimated)"),
            Value(base.step_ns, "ns"),
            "" if given else Interval(base.low_ns, base.high_ns, "ns"),
            "",
            "",
            "",
        )
    )
    rows = [
        Row(
            (
                _row_name(f, forecast.broken_at),
                Value(f.step_ns, "ns"),
                Interval(f.low_ns, f.high_ns, "ns"),
                "" if f.speedup is None else _speed(f, base),
                Value(f.launches, "count"),
                _VERDICTS[f.verdict],
            )
        )
        for f in forecast.forecasts
        if f.phase == base.phase
    ]
    return Table(
        f"{step_words(base.phase)}, untraced",
        (
            Column("the step", "text"),
            Column("time"),
            Column("90% interval"),
            Column("change"),
            Column("launches"),
            Column("verdict"),
        ),
        (as_it_is, *rows),
        caption=f"Forecasts from {base.steps} steps of the trace.",
    )


def _row_name(forecast: StepForecast, broken_at: str) -> str:
    if forecast.variant == "breakable":
        name = f"as {forecast.graph_launches} CUDA graphs, broken at {plain(broken_at)}"
    else:
        name = _way(forecast)
    return f"forward pass {name}" if forecast.part else name


def _facts(forecast: Forecast) -> Iterator[tuple[str, str]]:
    used = forecast.constants
    if used is None:
        return
    where = "measured on this machine" if used.source == "measured" else "shipped with launchlens"
    yield "costs of launches and graphs", f"{where}, of {used.gpu}, driver {used.driver}"
    yield "measured from", used.evidence
    for name, cost in used.costs_ns.items():
        yield name, format_ns(cost)
    for f in forecast.forecasts:
        parts = [f"{f.operations} operations of {format_ns(f.busy_ns)}"]
        if f.added_ns:
            parts.append(f"{format_ns(f.added_ns)} of work that capturing adds")
        yield f"{f.phase}, {_row_name(f, forecast.broken_at)}", ", ".join(parts)
