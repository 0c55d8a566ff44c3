"""What charts of one trace and of comparisons share: series of sides and causes, gap lengths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from launchlens.catalogue import gap_causes
from launchlens.records.figures import GapBin
from launchlens.records.metric import Metric, Unit
from launchlens.report.cells import Number, Value
from launchlens.report.pictures import Chart, Series
from launchlens.report.words import gap_bin_label

MOST_NAMES = 12
"""Kernels and calls shown in a chart; the tables hold all."""
BUSY = "at least one operation runs"

Numbers = Sequence[Number | None]


def causes() -> list[tuple[str, Metric]]:
    """Causes of idle time as charts stack them: those of every report before the rest."""
    return sorted(gap_causes().items(), key=lambda cause: not cause[1].headline)


def cause_series(cause: str, metric: Metric, values: Iterable[Value]) -> Series:
    """Idle time of one cause."""
    return Series(metric.title, tuple(values), ("cause", cause), metric.legend)


def side_series(
    names: Sequence[str], numbers: Sequence[Numbers], unit: Unit
) -> tuple[tuple[Series, ...], str]:
    """A series for each side in its colour, and the caption's words on sides without figures."""
    values = [[Value(number, unit) for number in row] for row in numbers]
    return known_series(names, values)


def known_series(
    names: Sequence[str], values: Sequence[Sequence[Value]]
) -> tuple[tuple[Series, ...], str]:
    """Sides that have any value; the others are named once instead of at every bar."""
    every = [
        Series(name, tuple(row), ("side", str(i)))
        for i, (name, row) in enumerate(zip(names, values, strict=True))
    ]
    known = tuple(s for s in every if any(value.number is not None for value in s.values))
    unknown = [s.name for s in every if s not in known]
    if not unknown:
        return known, ""
    # A single series gets no legend.
    shown = f" Shown is {known[0].name}." if len(known) == 1 else ""
    return known, f"{shown} Unknown: {', '.join(unknown)}."


def gap_histograms(
    sides: Sequence[tuple[str, tuple[GapBin, ...], int]], suffix: str = ""
) -> tuple[Chart, ...]:
    """Time and number of gaps by length class, a mean over the steps: none or two charts.

    A side is its name, histogram (empty: unknown) and number of steps; ``suffix`` ends anchors.
    """
    bins = next((histogram for _, histogram, _ in sides if histogram), ())
    if not bins:
        return ()
    categories = tuple(gap_bin_label(one).removesuffix(" µs") for one in bins)
    names = [name for name, _, _ in sides]
    unknown: Numbers = [None] * len(bins)
    times = [[b.total_ns / n for b in histogram] or unknown for _, histogram, n in sides]
    counts = [[b.count / n for b in histogram] or unknown for _, histogram, n in sides]
    inside = " Gaps of a microsecond or two lie inside CUDA graphs too."
    kinds: tuple[tuple[str, str, Sequence[Numbers], Unit, str], ...] = (
        ("gap-time", "Idle time by length of gap", times, "ns", ""),
        ("gap-count", "Number of gaps by length", counts, "count", inside),
    )
    charts = []
    for anchor, title, numbers, unit, more in kinds:
        series, left_out = side_series(names, numbers, unit)
        caption = f"Per step (mean).{more}{left_out}"
        axis = "length of gap, µs"
        charts.append(
            Chart(
                anchor + suffix,
                title,
                categories,
                series,
                unit,
                "columns",
                caption,
                axis,
                tabled=True,
            )
        )
    return tuple(charts)
