"""Which charts a comparison gets, and from which of its rows and lists they are drawn."""

from __future__ import annotations

from collections.abc import Sequence

from launchlens.records.comparison import Comparison, PhaseComparison
from launchlens.records.figures import ApiRow, GapBin, KernelRow
from launchlens.render.format import format_value, gap_bin_label
from launchlens.render.html_figures import (
    Series,
    bars_by_category,
    capitalized,
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


def idle_chart(comparison: Comparison, phase: PhaseComparison, index: int) -> FigureView | None:
    """The window of each side as busy time and idle time by cause."""
    names = [side.short for side in comparison.sides]
    busy = row_values(phase, "busy_ns")
    if busy is None or all(value is None for value in busy):
        return None
    series = [Series("busy", BUSY_COLOUR, busy, "busy: at least one operation runs")]
    for cause, (colour, words) in GAP_CAUSES.items():
        values = row_values(phase, f"gaps_ns.{cause}")
        if values and any(values):
            series.append(Series(cause.replace("_", "-"), colour, values, words))
    caption = [
        "Traced. Each part is its own median over the steps, so the parts need not sum to the "
        "median step."
    ]
    notes = dict.fromkeys(row.note for row in phase.rows if row.metric == "busy_ns" and row.note)
    caption += [capitalized(note) + "." for note in notes]
    return bars_by_category(
        f"idle-{index}",
        f"Where a {phase.phase} step's time goes on the GPU",
        " ".join(caption),
        names,
        series,
        unit="ns",
        stacked=True,
    )


def time_chart(comparison: Comparison, phase: PhaseComparison, index: int) -> FigureView | None:
    """Step time without the profiler, with it, and the GPU's busy time, side by side."""
    untraced = row_values(phase, "untraced_ns")
    if untraced is None or all(value is None for value in untraced):
        return None
    found = {
        "untraced": untraced,
        "traced": row_values(phase, "window_ns"),
        "busy on the GPU": row_values(phase, "busy_ns"),
    }
    return _by_side(
        comparison,
        f"times-{index}",
        "Step time: untraced, traced, busy",
        "Tracing lengthens launch-bound steps; the untraced time is what users feel.",
        found,
        "ns",
    )


def idle_fraction_chart(
    comparison: Comparison, phase: PhaseComparison, index: int
) -> FigureView | None:
    """The idle fraction as traced, and corrected by the untraced time."""
    corrected = row_values(phase, "idle_corrected")
    if corrected is None or all(value is None for value in corrected):
        return None
    found = {"idle, traced": row_values(phase, "idle"), "idle, corrected": corrected}
    return _by_side(
        comparison,
        f"idle-fraction-{index}",
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
    series, unknown = _known(side_series(names, by_side))
    return bars_by_category(figure_id, title, caption + unknown, list(known), series, unit=unit)


def steps_of(comparison: Comparison) -> list[int]:
    """For each side the number of steps that its lists of kernels, calls and gaps sum up.

    They are those of the first phase in which the side has steps.
    """
    return [
        next((phase.steps[i] for phase in comparison.phases if phase.steps[i]), 1)
        for i in range(len(comparison.sides))
    ]


def gap_charts(comparison: Comparison) -> list[FigureView]:
    """How long the gaps are: time in each length class, and their number, per step."""
    steps = steps_of(comparison)
    sides = list(zip(comparison.sides, steps, strict=True))
    if not any(side.gap_histogram for side, _ in sides):
        return []
    return gap_histogram_charts([(side.short, side.gap_histogram, n) for side, n in sides])


def gap_histogram_charts(
    sides: Sequence[tuple[str, tuple[GapBin, ...], int]], suffix: str = ""
) -> list[FigureView]:
    """Time and number of gaps by length class, a mean over the steps.

    Args:
        sides: name, histogram (empty: unknown) and number of steps of each side.
        suffix: what makes the figures' ids unique.
    """
    bins = next(histogram for _, histogram, _ in sides if histogram)
    categories = [gap_bin_label(one).removesuffix(" µs") for one in bins]
    names = [name for name, _, _ in sides]
    unknown: list[Value] = [None] * len(bins)
    times = [[b.total_ns / n for b in histogram] or unknown for _, histogram, n in sides]
    counts = [[b.count / n for b in histogram] or unknown for _, histogram, n in sides]
    (time_series, said), (count_series, _) = (
        _known(side_series(names, values)) for values in (times, counts)
    )
    axis = "length of gap, µs"
    return [
        columns_by_category(
            f"gap-time{suffix}",
            "Idle time by length of gap",
            f"Per step (mean).{said}",
            categories,
            time_series,
            unit="ns",
            axis_title=axis,
        ),
        columns_by_category(
            f"gap-count{suffix}",
            "Number of gaps by length",
            f"Per step (mean). Gaps of a microsecond or two lie inside CUDA graphs too.{said}",
            categories,
            count_series,
            unit="count",
            axis_title=axis,
        ),
    ]


def call_chart(comparison: Comparison) -> FigureView | None:
    """Host API calls of each side by function, per step."""
    return _count_chart(
        "calls",
        "Launches and other host calls, by CUDA API",
        "Calls per step (mean), launches first.",
        [side.api_calls for side in comparison.sides],
        comparison,
        first="Launch",
    )


def kernel_chart(comparison: Comparison) -> FigureView | None:
    """Kernels of each side by name, per step."""
    return _count_chart(
        "kernels",
        "Kernels run, by name",
        "Kernels on the GPU per step (mean).",
        [side.kernels for side in comparison.sides],
        comparison,
    )


def _count_chart(
    figure_id: str,
    title: str,
    caption: str,
    lists: Sequence[Sequence[ApiRow] | Sequence[KernelRow]],
    comparison: Comparison,
    *,
    first: str = "",
) -> FigureView | None:
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
    categories = ordered[:_MOST]
    left_out = len(largest) - len(categories)
    if left_out:
        noun = "name is" if left_out == 1 else "names are"
        caption += f" {format_value(left_out, 'count')} rarer {noun} left out."
    values: list[list[Value]] = [
        [side.get(name, 0) if side else None for name in categories] for side in counts
    ]
    series = side_series([side.short for side in comparison.sides], values)
    series, unknown = _known(series)
    return bars_by_category(figure_id, title, caption + unknown, categories, series, unit="count")


def _known(series: Sequence[Series]) -> tuple[list[Series], str]:
    """Series that have any value; the others are named once instead of at every bar."""
    known = [one for one in series if any(value is not None for value in one.values)]
    names = [one.name for one in series if one not in known]
    if not names:
        return known, ""
    # A single series gets no legend.
    shown = f" Shown is {known[0].name}." if len(known) == 1 else ""
    return known, f"{shown} Unknown: {', '.join(names)}."


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
        series, unknown = _known(side_series(names, values))
        charts.append(
            columns_by_category(
                metric.replace("_", "-"),
                f"{title} by concurrency",
                f"Untraced medians.{unknown}",
                [str(level) for level in levels],
                series,
                unit="ns",
                axis_title="requests at once",
            )
        )
    return charts
