"""How long a step takes, from its graph of dependencies: one pass over calls and operations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from launchlens.forecast.step_graph import StepGraph
from launchlens.records.columns import IntColumn


@dataclass(frozen=True, slots=True)
class Simulated:
    """Times of a simulated step, from the start of its range; columns (calls,) or (ops,)."""

    window_ns: int
    """To the end of the range or of the last operation, whichever is later."""
    call_start_ns: IntColumn
    """When each call starts."""
    call_end_ns: IntColumn
    """When it returns."""
    op_start_ns: IntColumn
    """When each operation starts."""
    op_end_ns: IntColumn
    """When it ends."""


def simulate(graph: StepGraph) -> Simulated:
    """Run a step through: each call after the one before it, each operation when it can."""
    gap, cost = graph.gap_ns.tolist(), graph.cost_ns.tolist()
    waits_for, returns = graph.waits_for.tolist(), graph.returns_ns.tolist()
    duration, latency = graph.op_ns.tolist(), graph.latency_ns.tolist()
    after, delay = graph.after.tolist(), graph.delay_ns.tolist()
    beside, beside_ns = graph.beside.tolist(), graph.beside_ns.tolist()
    last = np.searchsorted(graph.op_call, np.arange(graph.calls), side="right").tolist()
    starts, ends = [0] * graph.operations, [0] * graph.operations
    call_starts, call_ends = [0] * graph.calls, [0] * graph.calls
    now = op = 0
    for call in range(graph.calls):
        now += gap[call]
        call_starts[call] = now
        while op < last[call]:
            start = now + latency[op]
            if after[op] >= 0:
                start = max(start, ends[after[op]] + delay[op])
            if beside[op] >= 0:
                start = max(start, ends[beside[op]] + beside_ns[op])
            starts[op], ends[op] = start, start + duration[op]
            op += 1
        now += cost[call]
        if waits_for[call] >= 0:
            now = max(now, ends[waits_for[call]] + returns[call])
        call_ends[call] = now
    window = max(now + graph.tail_ns, max(ends, default=0))
    columns = (np.array(c, np.int64) for c in (call_starts, call_ends, starts, ends))
    return Simulated(window, *columns)
