"""Charts of a comparison: which there are, and from which of its rows and lists they come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from launchlens.records.comparison import Cell, Comparison, PhaseComparison
from launchlens.records.figures import ApiRow, KernelRow
from launchlens.records.metric import Unit
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
from launchlens.report.document import Chart, Series


def idle_by_cause(comparison: Comparison, phase: PhaseComparison, index: int) -> Chart | None:
    """The window of each side as busy time and idle time by cause; None where busy is unknown."""
    busy = _cells(phase, "busy_ns")
    if all(cell.value is None for cell in busy):
        return None
    series = [Series("busy", _figures(busy, "ns"), ("busy", ""), BUSY)]
    for cause, metric in causes():
        cells = _cells(phase, metric.name)
        if any(cell.value for cell in cells):
            series.append(cause_series(cause, metric, _figures(cells, "ns")))
    caption = [
        "Traced. Each part is its own median over the steps, so the parts need not sum to the "
        "median step."
    ]
    notes = dict.fromkeys(row.note for row in phase.rows if row.metric == "busy_ns" and row.note)
    caption += [f"{note[:1].upper()}{note[1:]}." for note in notes]
    return Chart(
        f"idle-{index}",
        f"Where a {phase.phase} step's time goes on the GPU",
        tuple(_names(comparison)),
        tuple(series),
        "ns",
        "stacked",
        " ".join(caption),
    )


def step_times(comparison: Comparison, phase: PhaseComparison, index: int) -> Chart | None:
    """Step time without the profiler, with it, and the GPU's busy time, side by side."""
    return _by_side(
        comparison,
        Chart(
            f"times-{index}",
            "Step time: untraced, traced, busy",
            ("untraced", "traced", "busy on the GPU"),
            (),
            "ns",
            caption="Tracing lengthens launch-bound steps; the untraced time is what users feel.",
        ),
        [_cells(phase, metric) for metric in ("untraced_ns", "window_ns", "busy_ns")],
        needed=0,
    )


def idle_fractions(comparison: Comparison, phase: PhaseComparison, index: int) -> Chart | None:
    """The idle fraction as traced, and corrected by the untraced time."""
    return _by_side(
        comparison,
        Chart(
            f"idle-fraction-{index}",
            "GPU idle: traced and corrected",
            ("idle, traced", "idle, corrected"),
            (),
            "fraction",
            caption="Corrected: 1 − busy / untraced step time. The traced figure overstates idle.",
        ),
        [_cells(phase, metric) for metric in ("idle", "idle_corrected")],
        needed=1,
    )


def gap_lengths(comparison: Comparison) -> tuple[Chart, ...]:
    """How long the gaps are: time in each length class, and their number, per step."""
    sides = zip(comparison.sides, _steps(comparison), strict=True)
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


def kernels(comparison: Comparison, short: Mapping[str, str]) -> Chart | None:
    """Kernels of each side by their short names, per step."""
    return _by_name(
        comparison,
        [side.kernels for side in comparison.sides],
        "kernels",
        "Kernels run, by name",
        "Kernels on the GPU per step (mean).",
        short=short,
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


def _by_side(
    comparison: Comparison, chart: Chart, rows: Sequence[Sequence[Cell]], *, needed: int
) -> Chart | None:
    """The chart with a category for each known row; None without the row that it is ``needed``."""
    if all(cell.value is None for cell in rows[needed]):
        return None
    known = [
        (name, _figures(cells, chart.unit))
        for name, cells in zip(chart.categories, rows, strict=True)
        if any(cell.value is not None for cell in cells)
    ]
    names = _names(comparison)
    values = [[row[i] for _, row in known] for i in range(len(names))]
    series, left_out = known_series(names, values)
    return replace(
        chart,
        categories=tuple(name for name, _ in known),
        series=series,
        caption=chart.caption + left_out,
    )


def _by_name(
    comparison: Comparison,
    lists: Sequence[Sequence[ApiRow] | Sequence[KernelRow]],
    anchor: str,
    title: str,
    caption: str,
    *,
    first: str = "",
    short: Mapping[str, str] | None = None,
) -> Chart | None:
    """The names with the largest counts; a side without any list is unknown, not zero.

    Names that hold the word ``first`` stand before the others.
    """
    counts = [
        {row.name: row.count / n for row in rows}
        for rows, n in zip(lists, _steps(comparison), strict=True)
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
    numbers = [[side.get(name, 0) if side else None for name in shown] for side in counts]
    series, unknown = side_series(_names(comparison), numbers, "count")
    titles = tuple((short or {}).get(name, name) for name in shown)
    return Chart(anchor, title, titles, series, "count", caption=caption + unknown)


def _steps(comparison: Comparison) -> list[int]:
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


def _figures(cells: Iterable[Cell], unit: Unit) -> tuple[Value, ...]:
    return tuple(Value(cell.value, unit, cell.bound) for cell in cells)
