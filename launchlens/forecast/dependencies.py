"""What waits for what in a step, from the times of its calls and operations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from launchlens.calls import CallKind
from launchlens.records.columns import IntColumn

NONE = -1
"""No operation, no call of the trace."""
NEVER = np.iinfo(np.int64).min // 4
"""The end of what was not there."""
_RETURNS_NS = 2_000
"""A synchronize call whose work is done returns this soon, or as soon as it was seen to."""


@dataclass(frozen=True, slots=True)
class Typical:
    """What a launch costs where the trace does not show it, in nanoseconds."""

    latency_ns: int
    """From a launch call's start to its operation's, the GPU being free."""
    delay_ns: int
    """From an operation's end to the next one's start on a stream, both submitted in time."""


def outer_calls(start: IntColumn, end: IntColumn) -> tuple[IntColumn, IntColumn]:
    """The calls that lie in no other, and for every call the place of its outer one among these."""
    if start.size == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    reach = np.maximum.accumulate(end)
    opens = np.concatenate([[True], start[1:] >= reach[:-1]])
    return np.flatnonzero(opens).astype(np.int64), np.cumsum(opens) - 1


def before_on_stream(stream: IntColumn) -> IntColumn:
    """For each operation the one before it on its stream, `NONE` for the first."""
    before = np.full(stream.size, NONE, np.int64)
    for one in np.unique(stream).tolist():
        mine = np.flatnonzero(stream == one)
        before[mine[1:]] = mine[:-1]
    return before


def waited_for(
    kind: npt.NDArray[np.int8],
    op_call: IntColumn,
    stream: IntColumn,
    op_start: IntColumn,
    op_end: IntColumn,
) -> IntColumn:
    """Which operation of another stream each waits for.

    nsys does not say which event a cudaStreamWaitEvent waits for. Of the first operation after
    such a call it is taken to be the last one of another stream that had ended when it started.
    """
    beside = np.full(op_call.size, NONE, np.int64)
    waits = np.flatnonzero(kind == CallKind.WAIT)
    if waits.size == 0 or np.unique(stream).size < 2:
        return beside
    for place in np.unique(np.searchsorted(op_call, waits)).tolist():
        if place >= op_call.size:
            continue
        known = np.flatnonzero(
            (stream[:place] != stream[place]) & (op_end[:place] <= op_start[place])
        )
        if known.size:
            beside[place] = known[np.argmax(op_end[known])]
    return beside


def bind(
    op_start: IntColumn, call_start: IntColumn, after_end: IntColumn, typical: Typical
) -> tuple[IntColumn, IntColumn]:
    """Latency and delay of each operation: what held it up keeps its time, the other is typical."""
    since_call, since_op = op_start - call_start, op_start - after_end
    by_call = call_start + typical.latency_ns >= after_end + typical.delay_ns
    latency = np.where(by_call, since_call, np.minimum(since_call, typical.latency_ns))
    delay = np.where(by_call, np.minimum(since_op, typical.delay_ns), since_op)
    return latency, np.where(after_end == NEVER, 0, delay)


def waits_of(
    kind: npt.NDArray[np.int8],
    start: IntColumn,
    end: IntColumn,
    op_call: IntColumn,
    op_end: IntColumn,
) -> tuple[IntColumn, IntColumn, IntColumn]:
    """What each call waits for, how soon after it returns, and what it takes without waiting."""
    waits_for = np.full(start.size, NONE, np.int64)
    returns, cost = np.zeros(start.size, np.int64), end - start
    last = np.searchsorted(op_call, np.arange(start.size), side="right")
    latest, best = np.full(op_end.size + 1, NONE, np.int64), NONE
    for i, ends in enumerate(op_end.tolist()):
        best = i if best == NONE or ends >= op_end[best] else best
        latest[i + 1] = best
    syncs = kind == CallKind.SYNC
    copies = (kind == CallKind.MEMCPY) & (np.diff(last, prepend=0) > 0)
    for call in np.flatnonzero(syncs | copies).tolist():
        op = int(latest[last[call]]) if syncs[call] else int(last[call]) - 1
        if op == NONE or op_end[op] > end[call]:
            continue  # it returned before: it does not wait for this one
        waits_for[call] = op
        since = int(end[call] - op_end[op])
        if op_end[op] > start[call]:
            returns[call], cost[call] = since, min(int(cost[call]), _RETURNS_NS)
        else:
            returns[call] = min(since, _RETURNS_NS)
    return waits_for, returns, cost
