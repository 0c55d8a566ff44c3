"""What launching costs: duration and rhythm of the calls, and how long operations queue."""

from __future__ import annotations

import numpy as np

from launchlens.calls import CallKind
from launchlens.calls.step_calls import Slices
from launchlens.metrics.figures import Column, figure
from launchlens.metrics.statistics import segment_medians
from launchlens.metrics.step_rows import StepRows
from launchlens.records.columns import IntColumn, OpKind


@figure
def launch_cost_ns(m: StepRows) -> Column:
    """Median duration of a launch call, of a step on several devices where it launched."""
    launch, slices, cost = _launch_calls(m)
    median = segment_medians(cost, slices)
    for row in np.flatnonzero(m.owned.is_split).tolist():
        mine = _mine(m, row, launch, slices, cost)
        median[row] = int(np.median(mine)) if mine.size else None
    return median


@figure
def launch_cost_total_ns(m: StepRows) -> Column:
    """Duration of all launch calls; unknown without any."""
    launch, slices, cost = _launch_calls(m)
    running = np.concatenate([[0], np.cumsum(cost)])
    totals = (running[slices.high] - running[slices.low]).tolist()
    for row in np.flatnonzero(m.owned.is_split).tolist():
        totals[row] = int(_mine(m, row, launch, slices, cost).sum())
    return m.where(m.kernel_launches + m.graph_launches > 0, totals)


@figure
def inter_launch_ns(m: StepRows) -> Column:
    """Median start-to-start time of the thread's launches, whichever devices they are on."""
    launch, slices, _ = _launch_calls(m)
    api = m.trace.api
    pairs = np.flatnonzero(api.thread[launch[1:]] == api.thread[launch[:-1]])
    between = Slices(slices.low, np.maximum(slices.high - 1, slices.low)).within(pairs)
    return segment_medians(np.diff(api.start_ns[launch])[pairs], between)


@figure
def queue_ns(m: StepRows) -> Column:
    """Median time from the end of a call to the start of its operation (0 if earlier)."""
    order, ops, api = m.owned.order, m.trace.ops, m.trace.api
    queued = ops.start_ns[order] - api.end_ns[ops.api_row[order]]
    return m.where(m.has_window, segment_medians(np.maximum(queued, 0, out=queued), m.owned.ops))


@figure
def tklqt_ns(m: StepRows) -> Column:
    """Total kernel launch and queuing time (arXiv 2504.11750): sum of start to kernel start."""
    ops, api = m.trace.ops, m.trace.api
    kernels = np.flatnonzero(ops.kind[m.owned.order] == OpKind.KERNEL)
    rows = m.owned.order[kernels]
    waits = ops.start_ns[rows] - api.start_ns[ops.api_row[rows]]
    total = np.concatenate([[0], np.cumsum(waits)])
    slices = m.owned.ops.within(kernels)
    return m.where(m.countable & m.has_window, (total[slices.high] - total[slices.low]).tolist())


def _launch_calls(m: StepRows) -> tuple[IntColumn, Slices, IntColumn]:
    """Rows of the launch calls, those of each step, and the duration of each."""
    launch = np.flatnonzero(m.of_kind(CallKind.KERNEL) | m.of_kind(CallKind.GRAPH))
    api = m.trace.api
    return launch, m.owned.calls.within(launch), api.end_ns[launch] - api.start_ns[launch]


def _mine(m: StepRows, row: int, launch: IntColumn, slices: Slices, cost: IntColumn) -> IntColumn:
    part = slice(slices.low[row], slices.high[row])
    mine: IntColumn = cost[part][m.here(row, launch[part])]
    return mine
