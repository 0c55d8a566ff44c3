"""Which charts a comparison gets, and from which of its rows and lists they are drawn."""

from __future__ import annotations

from collections.abc import Sequence

from launchlens.model.comparison import Comparison, PhaseComparison
from launchlens.model.figures import GapBin
from launchlens.render.format import format_value
from launchlens.render.html_figures import (
    Series,
    bars_by_category,
    columns_by_category,
    side_series,
)
from launchlens.render.html_page import FigureView
from launchlens.render.html_palette import BUSY_COLOUR, GAP_CAUSES

#: Kernels and calls shown in a chart; the tables hold all.
_MOST = 12

Value = float | int | None


def row_values(phase: PhaseComparison, metric: str) -> tuple[Value, ...] | None:
    """Values of a metric by side; None where the comparison has no such row."""
    for row in phase.rows:
        if row.metric == metric:
            return tuple(cell.value for cell in row.cells)
    return None


def idle_chart(comparison: Comparison, phase: PhaseComparison) -> FigureView | None:
    """The window of each side as busy time and idle time by cause."""
    names = [side.short for side in comparison.sides]
    parts = [("busy", BUSY_COLOUR, row_values(phase, "busy_ns"))]
    for cause, (colour, _) in GAP_CAUSES.items():
        parts.append((cause.replace("_", "-"), colour, row_values(phase, f"gaps_ns.{cause}")))
    series = [
        Series(name, colour, values) for name, colour, values in parts if values and any(values)
    ]
    if len(series) < 2:
        return None
    words = " · ".join(
        text
        for cause, (_, text) in GAP_CAUSES.items()
        if cause.replace("_", "-") in {one.name for one in series}
    )
    return bars_by_category(
        f"idle-{phase.phase}",
        f"Where a {phase.phase} step's time goes on the GPU",
        f"Traced; each part is its own median over the steps. {words}.",
        names,
        series,
        unit="ns",
        stacked=True,
    )


def time_chart(comparison: Comparison, phase: PhaseComparison) -> FigureView | None:
    """Step time without the profiler, with it, and the GPU's busy time, side by side."""
    found = {
        "untraced": row_values(phase, "untraced_wall_ns"),
        "traced": row_values(phase, "window_ns"),
        "busy on the GPU": row_values(phase, "busy_ns"),
    }
    return _by_side(
        comparison,
        f"times-{phase.phase}",
        "Step time: untraced, traced, busy",
        "Tracing lengthens launch-bound steps; the untraced time is what users feel.",
        found,
        "ns",
    )


def idle_fraction_chart(comparison: Comparison, phase: PhaseComparison) -> FigureView | None:
    """The idle fraction as traced, and corrected by the untraced time."""
    found = {
        "idle, traced": row_values(phase, "idle"),
        "idle, corrected": row_values(phase, "idle_corrected"),
    }
    return _by_side(
        comparison,
        f"idle-fraction-{phase.phase}",
        "GPU idle: traced and corrected",
        "Corrected: 1 − busy / untraced step time. The traced figure overstates idle.",
        found,
        "fraction",
    )


def _by_side(
    comparison: Comparison,
    figure_id: str,
    title: str,
    caption: str,
    found: dict[str, tuple[Value, ...] | None],
    unit: str,
) -> FigureView | None:
    known = {k: v for k, v in found.items() if v and any(x is not None for x in v)}
    if not known:
        return None
    names = [side.short for side in comparison.sides]
    by_side = [[values[i] for values in known.values()] for i in range(len(names))]
    return bars_by_category(
        figure_id, title, caption, list(known), side_series(names, by_side), unit=unit
    )


def gap_charts(comparison: Comparison) -> list[FigureView]:
    """How long the gaps are: time in each length class, and their number."""
    sides = [side for side in comparison.sides if side.gap_histogram]
    if not sides:
        return []
    return gap_histogram_charts([(s.short, s.gap_histogram) for s in comparison.sides])


def gap_histogram_charts(sides: Sequence[tuple[str, tuple[GapBin, ...]]]) -> list[FigureView]:
    """Time and number of gaps by length class, a series for each side that has gaps."""
    bins = next(histogram for _, histogram in sides if histogram)
    categories = [_bin_name(one) for one in bins]
    names = [name for name, _ in sides]
    unknown = [None] * len(bins)
    times = [[b.total_ns for b in histogram] or unknown for _, histogram in sides]
    counts = [[b.count for b in histogram] or unknown for _, histogram in sides]
    caption = "Summed over all steps used. Gaps of a microsecond or two lie inside CUDA graphs too."
    return [
        columns_by_category(
            "gap-time",
            "Idle time by length of gap",
            caption,
            categories,
            side_series(names, times),
            unit="ns",
            axis_title="length of gap",
        ),
        columns_by_category(
            "gap-count",
            "Number of gaps by length",
            caption,
            categories,
            side_series(names, counts),
            unit="count",
            axis_title="length of gap",
        ),
    ]


def call_chart(comparison: Comparison) -> FigureView | None:
    """Host API calls of each side by function."""
    return _count_chart(
        "calls",
        "Host calls by CUDA API",
        "Number of calls, summed over all steps used; logarithmic.",
        [(s.short, {row.name: row.count for row in s.api_calls}) for s in comparison.sides],
    )


def kernel_chart(comparison: Comparison) -> FigureView | None:
    """Kernels of each side by name."""
    return _count_chart(
        "kernels",
        "Kernels run, by name",
        "Number of kernels on the GPU, summed over all steps used; logarithmic.",
        [(s.short, {row.name: row.count for row in s.kernels}) for s in comparison.sides],
    )


def _count_chart(
    figure_id: str, title: str, caption: str, sides: Sequence[tuple[str, dict[str, int]]]
) -> FigureView | None:
    order: dict[str, int] = {}
    for _, counts in sides:
        for name, count in counts.items():
            order[name] = max(order.get(name, 0), count)
    if not order:
        return None
    categories = sorted(order, key=lambda name: (-order[name], name))[:_MOST]
    left_out = len(order) - len(categories)
    if left_out:
        caption += f" {format_value(left_out, 'count')} rarer ones are left out."
    values = [[counts.get(name) for name in categories] for _, counts in sides]
    series = side_series([name for name, _ in sides], values)
    return bars_by_category(figure_id, title, caption, categories, series, unit="count", log=True)


def request_charts(comparison: Comparison) -> list[FigureView]:
    """TTFT and ITL by concurrency."""
    levels = sorted({r.concurrency for s in comparison.sides for r in s.facts.requests})
    if not levels:
        return []
    names = [side.short for side in comparison.sides]
    charts = []
    for metric, title in (("ttft_ns", "Time to first token"), ("itl_ns", "Inter-token latency")):
        values: list[list[Value]] = [
            [
                next(
                    (getattr(r, metric) for r in side.facts.requests if r.concurrency == level),
                    None,
                )
                for level in levels
            ]
            for side in comparison.sides
        ]
        if all(value is None for row in values for value in row):
            continue
        charts.append(
            columns_by_category(
                metric.replace("_", "-"),
                f"{title} by concurrency",
                "Untraced medians.",
                [str(level) for level in levels],
                side_series(names, values),
                unit="ns",
                axis_title="requests at once",
            )
        )
    return charts


def _bin_name(one: GapBin) -> str:
    if one.below_ns is None:
        return f"≥ {one.from_ns / 1e3:g} µs"
    if one.from_ns == 0:
        return f"< {one.below_ns / 1e3:g} µs"
    return f"{one.from_ns / 1e3:g}–{one.below_ns / 1e3:g} µs"
