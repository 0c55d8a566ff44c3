"""Benchmarks of servers, side by side: mean, median and p99 by concurrency, with changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from launchlens.records.benchmark import BenchmarkResult, Spread
from launchlens.records.comparison import Comparison
from launchlens.records.metric import Unit
from launchlens.report.cells import Cell, Judged, Value
from launchlens.report.changes import change
from launchlens.report.document import Column, Prominence, Row, Section, Table, Text
from launchlens.report.words import arrow, plain

_TIMES = (("TTFT", "ttft_ns"), ("TPOT", "tpot_ns"), ("ITL", "itl_ns"), ("latency", "latency_ns"))
_RATES = (("requests", "requests_per_s"), ("output tokens", "tokens_per_s"))
_PARTS: tuple[tuple[str, Prominence], ...] = (
    ("median", "main"),
    ("mean", "more"),
    ("p99", "main"),
)
_NOTE = "One measurement each: repeat a benchmark to see whether a change is more than chance."


def benchmark_section(comparison: Comparison) -> Section | None:
    """Request level as the sides' benchmarks measured it; None where none was given."""
    sides = [(side.short, side.facts.benchmarks) for side in comparison.sides]
    if not any(own for _, own in sides):
        return None
    rows = [row for load in _loads(sides) for row in _rows(*load)]
    tools = sorted({result.tool for _, own in sides for result in own})
    columns = [Column("concurrency", "text"), Column("requests, untraced", "text")]
    for number, (name, _) in enumerate(sides):
        columns.append(Column(plain(name)))
        columns += [Column("change")] if number else []
    table = Table(
        f"Requests, untraced ({', '.join(tools)})",
        tuple(columns),
        tuple(rows),
        caption=f"As measured by {', '.join(tools)}, without a profiler.",
        names=2,
        whole=True,
    )
    return Section("benchmarks", "Request level", (table, Text((_NOTE,), "remark")))


def requests_beside(comparison: Comparison, index: int, *, brief: bool = False) -> str:
    """The baseline's time to first token and a side's: "TTFT 46.7 → 9.12 ms at concurrency 1".

    Of the first load at which both were measured; "" where there is none. ``brief`` leaves out
    who measured it.
    """
    sides = [(comparison.sides[i].short, comparison.sides[i].facts.benchmarks) for i in (0, index)]
    if not index or not all(own for _, own in sides):
        return ""
    for level, (before, after) in _loads(sides):
        if before is None or after is None:
            continue
        times = [Value(result.ttft_ns.median, "ns") for result in (before, after)]
        if any(time.number is None for time in times):
            continue
        at = "" if before.concurrency is None else f" at concurrency {level}"
        tools = ", ".join(dict.fromkeys((before.tool, after.tool)))
        return f"TTFT {arrow(*times)}{at}" + ("" if brief else f" (untraced, {tools})")
    return ""


_Loads = tuple[str, list[BenchmarkResult | None]]


def _loads(sides: Sequence[tuple[str, Sequence[BenchmarkResult]]]) -> Iterator[_Loads]:
    """The results of each load: by concurrency, or where that is not told by order."""
    told = all(r.concurrency is not None for _, own in sides for r in own)
    if told:
        for level in sorted({r.concurrency for _, own in sides for r in own if r.concurrency}):
            found = [next((r for r in own if r.concurrency == level), None) for _, own in sides]
            yield f"{level:g}", found
        return
    for number in range(max(len(own) for _, own in sides)):
        yield "not told", [own[number] if number < len(own) else None for _, own in sides]


def _rows(level: str, results: Sequence[BenchmarkResult | None]) -> Iterator[Row]:
    for title, name in _TIMES:
        spreads = [getattr(r, name) if r else Spread() for r in results]
        for part, prominence in _PARTS:
            numbers = [getattr(one, part) for one in spreads]
            if any(number is not None for number in numbers):
                cells = _cells(numbers, "ns")
                yield Row((level, f"{title}, {part}", *cells), None, prominence)
    for title, name in _RATES:
        numbers = [getattr(r, name) if r else None for r in results]
        if any(number is not None for number in numbers):
            yield Row((level, title, *_cells(numbers, "per_s")))


def _cells(numbers: Sequence[float | None], unit: Unit) -> list[Cell]:
    """A value for each side, and for candidates how it changed."""
    base = numbers[0]
    cells: list[Cell] = [Value(base, unit)]
    for number in numbers[1:]:
        value = Value(number, unit)
        known = number is not None and base is not None
        by = number - base if number is not None and base is not None else None
        relative = by / base if by is not None and base else None
        cells += [value, change(Judged(value, by, relative)) if known else "unknown"]
    return cells
