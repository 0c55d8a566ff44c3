"""Charts of a comparison: which there are, and from which of its rows and lists they come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from launchlens.records.comparison import Cell, Comparison, PhaseComparison
from launchlens.records.figures import ApiRow, KernelRow
from launchlens.records.metric import Bound, Unit
from launchlens.report import words
from launchlens.report.cells import Value
from launchlens.report.chart_parts import (
    BUSY,
    MOST_NAMES,
    cause_series,
    causes,
    gap_histograms,
    known_series,
    side_series,
)
from launchlens.report.pictures import Chart, Series
from launchlens.report.ranking import fastest, ranked
from launchlens.report.words import format_value, plain, step_words

_ALIKE = 0.01
"""Kernel times that differ by less than this part are not told as a change."""
_TURNED: dict[Bound, Bound] = {"lower": "upper", "upper": "lower"}
"""What a difference is a bound of where what is taken away is one."""


def idle_by_cause(comparison: Comparison, phase: PhaseComparison, index: int) -> Chart | None:
    """The window of each side as busy time and idle time by cause; None where busy is unknown.

    Several candidates stand in the order of their step times, the fastest first.
    """
    busy = _cells(phase, "busy_ns")
    if all(cell.value is None for cell in busy):
        return None
    several = len(comparison.sides) > 2
    order = ranked(comparison, phase) if several else list(range(len(comparison.sides)))
    series = [Series("busy", _figures(busy, "ns", order), ("busy", ""), BUSY)]
    for cause, metric in causes():
        cells = _cells(phase, metric.name)
        if any(cell.value for cell in cells):
            series.append(cause_series(cause, metric, _figures(cells, "ns", order)))
    best = fastest(comparison) if several and order[0] else None
    caption = [
        "Traced. Each part is its own median over the steps, so the parts need not sum to the "
        "median step."
    ]
    notes = dict.fromkeys(row.note for row in phase.rows if row.metric == "busy_ns" and row.note)
    caption += [f"{note[:1].upper()}{note[1:]}." for note in notes]
    return Chart(
        f"idle-{index}",
        step_title(phase),
        tuple(comparison.sides[i].short for i in order),
        tuple(series),
        "ns",
        "stacked",
        " ".join(caption),
        beside=tuple(words.value(v) for v in _figures(_cells(phase, "window_ns"), "ns", order)),
        chips=tuple("fastest" if i == best else "" for i in order),
        roles=tuple(("side", str(i)) for i in order),
    )


def step_title(phase: PhaseComparison) -> str:
    """The title of the picture of a step."""
    return f"Where a {step_words(phase.phase)}'s time goes on the GPU"


def gap_lengths(comparison: Comparison) -> tuple[Chart, ...]:
    """How long the gaps are: time in each length class, and their number, per step."""
    sides = zip(comparison.sides, steps_of(comparison), strict=True)
    return gap_histograms([(side.short, side.gap_histogram, n) for side, n in sides])


def api_calls(comparison: Comparison) -> Chart | None:
    """Host API calls of each side by function, per step; those that launch first."""
    return _by_name(
        comparison,
        [side.api_calls for side in comparison.sides],
        "calls",
        "Launches and other host calls, by CUDA API",
        "Calls per step (mean), launches first.",
        first="Launch",
    )


def kernel_changes(comparison: Comparison, index: int, short: Mapping[str, str]) -> Chart | None:
    """What a candidate's kernels cost more or less than the baseline's, by GPU time of a step.

    None where the kernels of either side are not known, or none takes another time.
    """
    sides = comparison.sides[0], comparison.sides[index]
    steps = steps_of(comparison)[0], steps_of(comparison)[index]
    if not all(side.kernels for side in sides):
        return None
    before, after = ({row.name: row for row in side.kernels} for side in sides)
    found = [
        change
        for name in sorted(before.keys() | after.keys())
        if (change := _kernel_change(name, before.get(name), after.get(name), steps))
    ]
    found.sort(key=lambda change: -abs(change.by.number or 0))
    shown = found[:MOST_NAMES]
    if not shown:
        return None
    caption = "GPU time of a step (mean, traced)"
    if left_out := len(found) - len(shown):
        caption += f"; {left_out} smaller changes are left out"
    return Chart(
        f"changes-{index}",
        f"Kernel time, {plain(sides[1].short)} against {plain(sides[0].short)}",
        tuple(short.get(change.name, change.name) for change in shown),
        (
            Series(
                "change",
                tuple(change.by for change in shown),
                ("side", str(index)),
                hover=tuple(change.times for change in shown),
            ),
        ),
        "ns",
        "changes",
        f"{caption}.",
        full=tuple(change.name for change in shown),
        beside=tuple(change.counts for change in shown),
    )


def requests(comparison: Comparison) -> tuple[Chart, ...]:
    """TTFT and ITL by concurrency; none where no side has request-level figures."""
    found = [{r.concurrency: r for r in side.facts.requests} for side in comparison.sides]
    levels = sorted({level for side in found for level in side})
    charts = []
    for metric, title in (("ttft_ns", "Time to first token"), ("itl_ns", "Inter-token latency")):
        numbers = [[getattr(side.get(n), metric, None) for n in levels] for side in found]
        series, left_out = side_series(_names(comparison), numbers, "ns")
        if series:
            charts.append(
                Chart(
                    metric.replace("_", "-"),
                    f"{title} by concurrency",
                    tuple(str(level) for level in levels),
                    series,
                    "ns",
                    "columns",
                    f"Untraced medians.{left_out}",
                    "requests at once",
                )
            )
    return tuple(charts)


def _by_name(
    comparison: Comparison,
    lists: Sequence[Sequence[ApiRow]],
    anchor: str,
    title: str,
    caption: str,
    *,
    first: str = "",
) -> Chart | None:
    """The names with the largest counts; a side without any list is unknown, not zero.

    Names that hold the word ``first`` stand before the others.
    """
    counts = [
        {row.name: row.count / n for row in rows}
        for rows, n in zip(lists, steps_of(comparison), strict=True)
    ]
    largest: dict[str, float] = {}
    for side in counts:
        for name, count in side.items():
            largest[name] = max(largest.get(name, 0), count)
    if not largest:
        return None
    ordered = sorted(largest, key=lambda name: (first not in name, -largest[name], name))
    shown = ordered[:MOST_NAMES]
    if left_out := len(ordered) - len(shown):
        caption += f" {left_out} rarer {'name is' if left_out == 1 else 'names are'} left out."
    bounds = [{row.name: row.bound for row in rows} for rows in lists]
    values = [
        [Value(side.get(name, 0) if side else None, "count", bound.get(name)) for name in shown]
        for side, bound in zip(counts, bounds, strict=True)
    ]
    series, unknown = known_series(_names(comparison), values)
    return Chart(anchor, title, tuple(shown), series, "count", caption=caption + unknown)


def steps_of(comparison: Comparison) -> list[int]:
    """For each side the number of steps that its lists of kernels, calls and gaps sum up.

    They are those of the first phase in which the side has steps.
    """
    phases, sides = comparison.phases, range(len(comparison.sides))
    return [next((phase.steps[i] for phase in phases if phase.steps[i]), 1) for i in sides]


def _names(comparison: Comparison) -> list[str]:
    return [side.short for side in comparison.sides]


def _cells(phase: PhaseComparison, metric: str) -> tuple[Cell, ...]:
    """A metric's figures by side; empty where the comparison has no such row."""
    return next((row.cells for row in phase.rows if row.metric == metric), ())


def _figures(cells: Sequence[Cell], unit: Unit, order: Sequence[int]) -> tuple[Value, ...]:
    """Figures of the sides in an order; unknown where the comparison has no such row."""
    values = [Value(cell.value, unit, cell.bound) for cell in cells]
    return tuple(values[i] if values else Value(None, unit) for i in order)


@dataclass(frozen=True, slots=True)
class _KernelChange:
    """A kernel's GPU time in a step less the baseline's, and what is said of it."""

    name: str
    by: Value
    times: str
    counts: str


def _kernel_change(
    name: str, before: KernelRow | None, after: KernelRow | None, steps: tuple[int, int]
) -> _KernelChange | None:
    """None where the times are alike, or not known well enough for a difference."""
    bounds = before.total_bound if before else None, after.total_bound if after else None
    if all(bounds):
        return None
    bound = bounds[1] or (_TURNED[bounds[0]] if bounds[0] else None)
    rows = before, after
    old, new = (row.total_ns / n if row else 0.0 for row, n in zip(rows, steps, strict=True))
    ran = [row.count / n if row else 0.0 for row, n in zip(rows, steps, strict=True)]
    if abs(new - old) < _ALIKE * max(new, old):
        return None
    counts = [format_value(count, "count") for count in ran]
    alike = counts[0] == counts[1]
    word = "added, " if not before else "removed, " if not after else ""
    if not word and alike:
        word = "slower, " if new > old else "faster, "
    times = [
        format_value(ns, "ns", row.total_bound if row else None)
        for ns, row in zip((old, new), rows, strict=True)
    ]
    return _KernelChange(
        name,
        Value(round(new - old), "ns", bound),
        f"{' → '.join(times)} per step",
        f"{word}{counts[0] if alike else ' → '.join(counts)} per step",
    )
