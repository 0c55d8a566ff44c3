"""What the calls of a trace count as: nested calls once, calls of a capture apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from launchlens.calls.kinds import CallKind, blocks_host, call_kind
from launchlens.records.columns import ApiTable, BoolColumn, IntColumn, OpKind, OpTable

_FAMILY = {int(CallKind.STREAM_ALLOC): int(CallKind.ALLOC)}
"""Kinds of which one may be made inside the other for the same work."""


@dataclass(frozen=True, slots=True)
class Calls:
    """A trace's API calls, classed. All columns have shape (calls,)."""

    kind: npt.NDArray[np.int8]
    """`CallKind` of each call as it counts: a call made inside one of the same kind on its thread
    (the runtime's call to the driver) is OTHER, since its work counts once."""
    captured: BoolColumn
    """Calls that would have submitted work, but for their stream being captured."""
    capturing: BoolColumn
    """All calls between a thread's BeginCapture, itself among them, and its EndCapture."""
    has_op: BoolColumn
    """Whether the call, or the one inside it, has a GPU operation."""
    has_span: BoolColumn
    """Whether it has a whole-graph row."""
    blocking: BoolColumn
    """Whether the call makes its thread wait (`blocks_host`)."""

    @property
    def hidden(self) -> BoolColumn:
        """Graph launches of which the trace shows no work."""
        graphs: BoolColumn = self.kind == CallKind.GRAPH
        return graphs & ~self.captured & ~self.has_op & ~self.has_span


def class_calls(api: ApiTable, ops: OpTable) -> Calls:
    """Class every call of a trace (see `Calls`)."""
    named = api.name.size > 0
    kinds = np.array([int(call_kind(n)) for n in api.names] or [0], np.int8)
    waits = np.array([blocks_host(n) for n in api.names] or [False])
    kind = kinds[api.name] if named else np.empty(0, np.int8)
    has_op, has_span = np.zeros(kind.size, bool), np.zeros(kind.size, bool)
    is_span = ops.kind == OpKind.GRAPH
    linked = ops.api_row >= 0
    has_op[ops.api_row[linked & ~is_span]] = True
    has_span[ops.api_row[linked & is_span]] = True
    del is_span, linked
    kind, twins = _count_twins_once(api, kind, {int(k) for k in kinds.tolist()})
    for inner, outer in twins:
        has_op[outer] |= has_op[inner]
        has_span[outer] |= has_span[inner]
    capturing = _inside_capture(api, kind)
    submits = (kind >= CallKind.KERNEL) & (kind <= CallKind.MEMSET)
    captured = capturing & submits & ~has_op & ~has_span
    blocking = waits[api.name] if named else np.empty(0, bool)
    return Calls(kind, captured, capturing, has_op, has_span, blocking)


def _count_twins_once(
    api: ApiTable, kind: npt.NDArray[np.int8], there: set[int]
) -> tuple[npt.NDArray[np.int8], list[tuple[IntColumn, IntColumn]]]:
    """Calls nested in a call of the same kind on the same thread no longer count.

    nsys usually records the outer call only, so the common case is settled by one comparison
    of neighbours: nothing nested at all. Returns the kinds, and rows of the inner and the outer
    call of each such pair.
    """
    twins = []
    kinds = {_FAMILY.get(k, k) for k in there - {CallKind.OTHER}}
    for wanted in sorted(kinds):
        same = kind == wanted
        for other in (k for k, family in _FAMILY.items() if family == wanted and k in there):
            same |= kind == other
        rows = np.flatnonzero(same)
        if rows.size < 2:
            continue
        # int64: thread number times stride leaves int32 behind after two seconds of trace.
        thread = api.thread[rows].astype(np.int64)
        start, end = api.start_ns[rows], api.end_ns[rows]
        nested = (thread[1:] == thread[:-1]) & (start[1:] < end[:-1]) & (end[1:] <= end[:-1])
        if not nested.any():
            continue
        # A call may hold several inner calls: its reach covers all of them.
        base = int(start.min())
        stride = int(end.max()) - base + 1
        reach = np.maximum.accumulate(end - base + thread * stride)
        inside = np.zeros(rows.size, bool)
        inside[1:] = (start - base + thread * stride)[1:] < reach[:-1]
        outer = np.maximum.accumulate(np.where(inside, -1, np.arange(rows.size)))
        kind = kind.copy()
        kind[rows[inside]] = CallKind.OTHER
        twins.append((rows[inside], rows[outer[inside]]))
    return kind, twins


def _inside_capture(api: ApiTable, kind: npt.NDArray[np.int8]) -> BoolColumn:
    """Calls on a thread between its BeginCapture and EndCapture."""
    begin, end = kind == CallKind.BEGIN_CAPTURE, kind == CallKind.END_CAPTURE
    inside = np.zeros(kind.size, bool)
    for thread in np.unique(api.thread[begin]).tolist():
        low, high = np.searchsorted(api.thread, np.array([thread, thread + 1], api.thread.dtype))
        depth = np.cumsum(begin[low:high].astype(np.int32) - end[low:high].astype(np.int32))
        # An EndCapture whose BeginCapture came before the recording closes nothing here.
        inside[low:high] = depth > np.minimum(np.minimum.accumulate(depth), 0)
    return inside
