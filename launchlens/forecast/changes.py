"""Changes of a step's graph: what if this were gone, faster, or captured?

Each takes a graph and gives another, for `simulate` to run through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from launchlens.calls import CallKind
from launchlens.forecast.constants import Constants
from launchlens.forecast.dependencies import NONE
from launchlens.forecast.simulate import simulate
from launchlens.forecast.step_graph import StepGraph
from launchlens.records.columns import IntColumn, OpKind

Mask = npt.NDArray[np.bool_]
_LEAST = 0.2  # of a call's time and the time before it, which no tracing makes up
_MOST_PER_CALL_NS = 1_000_000
_TURNS = 24


def without_tracing(graph: StepGraph, per_call_ns: float) -> StepGraph:
    """The step without what tracing adds to each call: the thread gets to the next one sooner."""
    whole = graph.gap_ns + graph.cost_ns
    left = np.maximum(whole - per_call_ns, _LEAST * whole)
    return _scaled(graph, np.divide(left, whole, out=np.ones(whole.size), where=whole > 0))


def taking(graph: StepGraph, wanted_ns: int) -> StepGraph:
    """The step with its thread's work shortened, or lengthened, so that it takes this long.

    Where no work of the thread makes it so short, as short as it gets.
    """
    if simulate(graph).window_ns < wanted_ns:
        return _until(graph, wanted_ns, lambda x: _scaled(graph, np.full(graph.calls, 1 + x)), 100)
    return _until(graph, wanted_ns, lambda x: without_tracing(graph, x), _MOST_PER_CALL_NS)


def _until(graph: StepGraph, wanted_ns: int, change: object, most: float) -> StepGraph:
    """Bisects for the strength of a change with which the step takes the wanted time."""
    assert callable(change)
    low, high = 0.0, float(most)
    longer = simulate(change(high)).window_ns > simulate(graph).window_ns
    for _ in range(_TURNS):
        middle = (low + high) / 2
        enough = simulate(change(middle)).window_ns >= wanted_ns
        if enough == longer:
            high = middle
        else:
            low = middle
    changed: StepGraph = change((low + high) / 2)
    return changed


def scale_host(graph: StepGraph, calls: Mask, factor: float) -> StepGraph:
    """These calls, and what the thread does before each, take ``factor`` of their time."""
    return _scaled(graph, np.where(calls, factor, 1.0))


def _scaled(graph: StepGraph, factor: npt.NDArray[np.float64]) -> StepGraph:
    gap = np.rint(graph.gap_ns * factor).astype(np.int64)
    return replace(graph, gap_ns=gap, cost_ns=np.rint(graph.cost_ns * factor).astype(np.int64))


def without_calls(graph: StepGraph, calls: Mask) -> StepGraph:
    """These calls gone, with their waits and their operations; what led to them stays."""
    gone = calls[graph.op_call]
    rewired = _bypass(graph, gone)
    return replace(
        rewired,
        cost_ns=np.where(calls, 0, graph.cost_ns),
        waits_for=np.where(calls, NONE, rewired.waits_for),
        kind=np.where(calls, CallKind.OTHER, graph.kind).astype(np.int8),
    )


def halve_launches(graph: StepGraph) -> StepGraph:
    """Every second kernel launch gone, its kernel run by the launch before it (kernels fused).

    A fused kernel takes what its two took, so that only launches are saved.
    """
    rows = np.flatnonzero(graph.kind == CallKind.KERNEL)
    fused = np.zeros(graph.calls, bool)
    fused[rows[1::2]] = True
    into = np.full(graph.calls, NONE, np.int64)
    into[rows[1::2]] = rows[: rows[1::2].size * 2 : 2]
    moved = np.flatnonzero(fused[graph.op_call])
    last = np.searchsorted(graph.op_call, into[graph.op_call[moved]], side="right") - 1
    longer = graph.op_ns.copy()
    np.add.at(longer, last, graph.op_ns[moved])
    fewer = without_calls(replace(graph, op_ns=longer), fused)
    # What led to a launch that is gone goes with it: all since the last submission or wait.
    works = np.bincount(graph.op_call, minlength=graph.calls) > 0
    stops = works | (graph.waits_for >= 0)
    following = np.flatnonzero(stops)
    place = np.searchsorted(following, np.arange(graph.calls))
    ends = following[np.minimum(place, following.size - 1)]
    led = fused[ends] & (place < following.size)
    return replace(
        fewer, gap_ns=np.where(led, 0, fewer.gap_ns), cost_ns=np.where(led, 0, fewer.cost_ns)
    )


def _bypass(graph: StepGraph, gone: Mask) -> StepGraph:
    """The graph whose operations no longer wait for those that are gone, which take no time."""
    after, beside, waits_for = graph.after.copy(), graph.beside.copy(), graph.waits_for.copy()
    before = after.copy()
    for op in np.flatnonzero(gone).tolist():  # ascending: what stands before is settled
        if before[op] >= 0 and gone[before[op]]:
            before[op] = before[before[op]]
    for pointer in (after, beside, waits_for):
        lost = (pointer >= 0) & gone[np.maximum(pointer, 0)]
        pointer[lost] = before[pointer[lost]]
    keep = np.flatnonzero(~gone)
    place = np.full(gone.size + 1, NONE, np.int64)
    place[keep] = np.arange(keep.size)

    def moved(pointer: IntColumn) -> IntColumn:
        return place[pointer]  # NONE is the last place, which holds NONE

    return replace(
        graph,
        waits_for=moved(waits_for),
        op_call=graph.op_call[keep],
        op_ns=graph.op_ns[keep],
        op_kind=graph.op_kind[keep],
        op_row=graph.op_row[keep],
        stream=graph.stream[keep],
        latency_ns=graph.latency_ns[keep],
        after=moved(after[keep]),
        delay_ns=graph.delay_ns[keep],
        beside=moved(beside[keep]),
        beside_ns=graph.beside_ns[keep],
    )


def lengthen(graph: StepGraph, ops: IntColumn, by_ns: float, host_ns: float) -> StepGraph:
    """Work added in front of these operations, and the thread's work to submit it."""
    longer, gap = graph.op_ns.copy(), graph.gap_ns.copy()
    np.add.at(longer, ops, round(by_ns))
    np.add.at(gap, graph.op_call[ops], round(host_ns))
    return replace(graph, op_ns=longer, gap_ns=gap)


def capture(graph: StepGraph, segment: IntColumn, constants: Constants) -> StepGraph:
    """Runs of calls replaced by graph launches.

    Args:
        graph: the step.
        segment: number of the graph that holds each call, `NONE` for calls that stay, ascending.
        constants: what graphs cost.

    Returns:
        The step with one launch for each graph; what its thread did and waited for within a graph
        is gone.
    """
    inside = segment >= 0
    opens = inside & np.concatenate([[True], segment[1:] != segment[:-1]])
    kept = np.flatnonzero(~inside | opens)
    call_of = np.cumsum(~inside | opens) - 1
    op_call = call_of[graph.op_call]
    is_node = inside[graph.op_call]
    nodes = np.bincount(op_call[is_node], minlength=kept.size)
    is_graph = opens[kept]
    launch = constants.graph_launch_ns.value + constants.graph_launch_node_ns.value * nodes
    before = np.where(
        np.arange(kept.size) == 0, constants.replay_ns.value, graph.typical.latency_ns
    )
    gap = np.where(is_graph, np.minimum(before, graph.gap_ns[kept]), graph.gap_ns[kept])
    gap[: 1 if kept.size and is_graph[0] else 0] = round(constants.replay_ns.value)
    first = np.concatenate([[True], op_call[1:] != op_call[:-1]]) if op_call.size else is_node
    delay = _delays(graph, op_call, is_node, constants)
    return replace(
        graph,
        gap_ns=np.rint(gap).astype(np.int64),
        cost_ns=np.where(is_graph, np.rint(launch), graph.cost_ns[kept]).astype(np.int64),
        waits_for=np.where(is_graph, NONE, graph.waits_for[kept]),
        returns_ns=graph.returns_ns[kept],
        kind=np.where(is_graph, CallKind.GRAPH, graph.kind[kept]).astype(np.int8),
        row=np.where(is_graph, NONE, graph.row[kept]),
        tail_ns=0 if inside.all() else graph.tail_ns,
        op_call=op_call,
        latency_ns=np.where(
            is_node, np.where(first, graph.typical.latency_ns, 0), graph.latency_ns
        ),
        delay_ns=delay,
        beside=np.where(is_node, NONE, graph.beside),
    )


def _delays(graph: StepGraph, op_call: IntColumn, is_node: Mask, constants: Constants) -> IntColumn:
    """From each operation's end to the next one's start, where some of them are in graphs."""
    after = graph.after
    follows = np.maximum(after, 0)
    memset = graph.op_kind == OpKind.MEMSET
    inside = np.where(memset, constants.memset_gap_ns.value, constants.node_gap_ns.value)
    same = is_node & (after >= 0) & (op_call[follows] == op_call)
    enters = is_node & ~same
    leaves = ~is_node & (after >= 0) & is_node[follows]
    delay = graph.delay_ns.astype(np.float64)
    delay[same] = inside[same]
    # What a node runs longer within a graph counts also where a graph begins with it.
    delay[enters] = constants.enter_graph_ns.value
    delay[leaves] = constants.leave_graph_ns.value
    return np.where(after >= 0, np.rint(delay), 0).astype(np.int64)


def segments_between(stays: Mask, submits: Mask) -> IntColumn:
    """Numbers of the graphs that a step falls into when some of its calls stay eager.

    A call that submits nothing goes with the next one that does; behind the last one, with that.
    `NONE` for calls that stay, shape (calls,).
    """
    segment = np.full(stays.size, NONE, np.int64)
    number, opened, waiting = NONE, False, 0
    for call in np.flatnonzero(stays | submits).tolist():
        if not stays[call]:
            number += not opened
            segment[waiting : call + 1] = number
        opened, waiting = not stays[call], call + 1
    segment[waiting:] = number if opened else NONE
    return segment


def calls_of_ops(graph: StepGraph, ops: Sequence[int] | IntColumn) -> Mask:
    """The calls that submitted these operations, shape (calls,)."""
    found = np.zeros(graph.calls, bool)
    found[graph.op_call[np.asarray(ops, np.int64)]] = True
    return found
