"""Rows of a comparison: changes and verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from launchlens.comparison.margins import SMALLEST_COUNT, SMALLEST_IDLE, SMALLEST_RELATIVE
from launchlens.comparison.sides import Groups
from launchlens.records.comparison import Cell, Row, SideInput
from launchlens.records.figures import Group, Stat, Verdict
from launchlens.records.metric import Bound, Metric

_SPANS = "a whole-graph span counts as busy throughout, so that this is only a bound"
_OPPOSITE: dict[Bound | None, Bound] = {"lower": "upper", "upper": "lower"}


def metric_row(metric: Metric, stats: Sequence[tuple[Stat | None, str]], groups: Groups) -> Row:
    """One metric over all sides, with changes against the first and their verdicts."""
    bounds = [_bound(metric, *side) for side in zip(stats, groups, strict=True)]
    cells = _cells(metric, stats, bounds)
    return Row(
        metric=metric.name,
        title=metric.title,
        unit=metric.unit,
        direction=metric.direction,
        threshold=threshold_of(metric),
        cells=tuple(cells),
        headline=metric.headline,
        note=_row_note(metric, groups),
    )


def judged(metric: Metric, cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """The cells, the baseline's first, with the changes and verdicts that follow from the rest."""
    stats = [(Stat(c.value, None, None, None, c.ci_low, c.ci_high, c.n), c.source) for c in cells]
    bounds = [None if cell.value is None else cell.bound for cell in cells]
    made = _cells(metric, stats, bounds)
    return tuple(
        replace(cell, note=told.note, failed=told.failed)
        for cell, told in zip(made, cells, strict=True)
    )


def threshold_of(metric: Metric) -> float:
    """The smallest difference that matters: absolute for counts and fractions, else relative."""
    smallest = {"count": SMALLEST_COUNT, "fraction": SMALLEST_IDLE}
    return smallest.get(metric.unit, SMALLEST_RELATIVE)


def _cells(
    metric: Metric, stats: Sequence[tuple[Stat | None, str]], bounds: Sequence[Bound | None]
) -> list[Cell]:
    base = stats[0][0]
    cells = [_cell(metric, base, *one, is_base=i == 0) for i, one in enumerate(stats)]
    return _with_bounds(metric, cells, bounds)


def _cell(
    metric: Metric, base: Stat | None, stat: Stat | None, source: str, *, is_base: bool
) -> Cell:
    if stat is None or stat.median is None:
        return Cell(None, source=source, verdict="neutral" if is_base else "unknown")
    cell = Cell(stat.median, stat.ci_low, stat.ci_high, stat.n, source=source)
    if is_base:
        return cell
    if base is None or base.median is None:
        return replace(cell, verdict="unknown")
    change = stat.median - base.median
    relative = change / base.median if base.median else None
    if relative is not None and not math.isfinite(relative):
        relative = None  # of a value next to nothing
    margin = threshold_of(metric)
    if metric.unit not in ("count", "fraction"):
        margin *= abs(base.median)
    verdict = judge(metric, base, stat, margin)
    return replace(cell, change=change, relative=relative, verdict=verdict)


def judge(metric: Metric, base: Stat, stat: Stat, margin: float) -> Verdict:
    """Judge a change by the interval of the difference of the two medians.

    The interval joins those of the medians as the method of variance estimates recovery does
    (Zou and Donner 2008, "Construction of confidence limits about effect measures"). Wholly
    beyond the margin: better or worse. Wholly within: same. Otherwise inconclusive.
    """
    assert base.median is not None
    assert stat.median is not None
    if metric.direction == 0 or not metric.judged:
        return "neutral"
    change = stat.median - base.median
    bounds = (base.ci_low, base.ci_high, stat.ci_low, stat.ci_high)
    if any(b is None for b in bounds):
        if metric.unit in ("count", "bytes"):  # one value: these do not scatter like times
            low = high = change
        else:
            return "inconclusive"
    else:
        b_low, b_high, s_low, s_high = (float(b) for b in bounds if b is not None)
        low = change - math.hypot(stat.median - s_low, b_high - base.median)
        high = change + math.hypot(s_high - stat.median, base.median - b_low)
    if -margin <= low and high <= margin:
        return "same"
    if low > margin or high < -margin:
        return "better" if (change > 0) == (metric.direction > 0) else "worse"
    return "inconclusive"


def _bound(metric: Metric, stat: tuple[Stat | None, str], group: Group | None) -> Bound | None:
    """What a side's figure is a bound of; that of a side figure follows from its trace."""
    figure = stat[0]
    if figure is None or figure.median is None:
        return None
    if figure.bound is not None or metric.owner == "step" or group is None:
        return figure.bound
    return metric.bound_under(group.graph_tracing)


def _with_bounds(
    metric: Metric, cells: Sequence[Cell], bounds: Sequence[Bound | None]
) -> list[Cell]:
    """Mark the cells that are only bounds, and withhold changes that these cannot carry.

    A candidate that is only a lower bound may have changed by more than is known, a baseline that
    is one by less. A change whose sign that could turn is none: there is no verdict either.
    """
    marked = [replace(cell, bound=bound) for cell, bound in zip(cells, bounds, strict=True)]
    for i, cell in enumerate(marked[1:], 1):
        ends: set[Bound | None] = {cell.bound, _OPPOSITE.get(bounds[0])} - {None}
        if not ends or cell.change is None:
            continue
        (end, *others) = ends
        if others or (cell.change <= 0 if end == "lower" else cell.change >= 0):
            verdict: Verdict = "incomparable" if metric.direction and metric.judged else "neutral"
            marked[i] = replace(cell, change=None, relative=None, verdict=verdict)
        else:
            marked[i] = replace(cell, change_bound=end)
    return marked


def mark_failed(row: Row, sides: Sequence[SideInput]) -> Row:
    """The row with cells of failed variants saying so: they have no figure to be looked for."""
    cells = [
        replace(cell, failed=True, note=side.facts.failure.words)
        if cell.value is None and side.facts.failure is not None
        else cell
        for cell, side in zip(row.cells, sides, strict=True)
    ]
    return replace(row, cells=tuple(cells))


def _row_note(metric: Metric, groups: Groups) -> str | None:
    """Remarks that must stand beside a row."""
    if metric.whole_graph:
        return "from the whole-graph traces; all other traced figures are from the node-level ones"
    tracing = {g.graph_tracing for g in groups if g}
    if any(metric.bound_under(mode) for mode in tracing):
        alike = not tracing & {"node", "mixed", "none"}
        return _SPANS + ("" if alike else ", not to be set against node-level tracing")
    holds = metric.caution_in is None or metric.caution_in in tracing
    return metric.caution if metric.caution and holds else None
