"""What the calls of a trace count as: nested calls once, calls of a capture apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from launchlens.calls.kinds import CallKind, blocks_host, call_kind
from launchlens.intervals import hosts_of
from launchlens.records.columns import ApiTable, BoolColumn, IntColumn, OpKind, Trace

_SUBMITS_NOTHING = np.array(
    [k is not CallKind.UNNAMED and not CallKind.KERNEL <= k <= CallKind.MEMSET for k in CallKind]
)
"""By kind: whether a call of it is known to submit no work."""
_LAUNCHES = (int(CallKind.KERNEL), int(CallKind.GRAPH))
_NOT_READY = (34, 600)
"""What a query returns while work is under way (cudaErrorNotReady, of old and new CUDA)."""
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
    failed: BoolColumn
    """Calls that returned an error, and so did nothing; of nested ones the outermost. They are of
    kind OTHER. A query that answers "not ready" has not failed."""
    unnamed: BoolColumn
    """Calls whose name the trace does not tell. Those that have a kernel or a graph are launches
    all the same, of kind KERNEL or GRAPH."""
    unlisted: BoolColumn
    """Calls of no kind that submits work, although they have a kernel or a graph."""
    inner: tuple[IntColumn, IntColumn]
    """Rows of calls that count once with the call around them, and rows of those, (pairs,) each."""

    @property
    def hidden(self) -> BoolColumn:
        """Graph launches of which the trace shows no work."""
        graphs: BoolColumn = self.kind == CallKind.GRAPH
        return graphs & ~self.captured & ~self.has_op & ~self.has_span

    @property
    def lost(self) -> BoolColumn:
        """Kernel launches that should have run something of which the trace shows nothing."""
        kernels: BoolColumn = self.kind == CallKind.KERNEL
        return kernels & ~self.captured & ~self.has_op & ~self.has_span


def class_calls(trace: Trace) -> Calls:
    """Class every call of a trace (see `Calls`)."""
    api = trace.api
    named = api.name.size > 0
    kinds = np.array([int(call_kind(n)) for n in api.names] or [0], np.int8)
    waits = np.array([blocks_host(n) for n in api.names] or [False])
    kind = kinds[api.name] if named else np.empty(0, np.int8)
    has_op, has_span = np.zeros(kind.size, bool), np.zeros(kind.size, bool)
    unlisted, unnamed = np.zeros(kind.size, bool), kind == CallKind.UNNAMED
    kind = kind.copy() if unnamed.any() else kind
    for ops in (trace.ops, trace.untimed):
        is_span = ops.kind == OpKind.GRAPH
        linked = ops.api_row >= 0
        has_op[ops.api_row[linked & ~is_span]] = True
        has_span[ops.api_row[linked & is_span]] = True
        launched = ops.api_row[linked & (is_span | (ops.kind == OpKind.KERNEL))]
        unlisted[launched[_SUBMITS_NOTHING[kind[launched]]]] = True
        kind[launched[unnamed[launched]]] = CallKind.KERNEL
        of_graphs = ops.api_row[linked & (is_span | ops.is_node)]
        kind[of_graphs[unnamed[of_graphs]]] = CallKind.GRAPH
        del is_span, linked, launched, of_graphs
    there = {int(k) for k in kinds.tolist()} | ({*_LAUNCHES} if unnamed.any() else set())
    kind, twins = _count_twins_once(api, kind, there)
    for inner, _ in twins:
        unnamed[inner] = False
    for inner, outer in twins:
        np.logical_or.at(has_op, outer, has_op[inner])
        np.logical_or.at(has_span, outer, has_span[inner])
    kind, failed = _without_failed(api, kind)
    unlisted &= ~failed
    capturing = _inside_capture(api, kind)
    submits = (kind >= CallKind.KERNEL) & (kind <= CallKind.MEMSET)
    captured = capturing & submits & ~has_op & ~has_span
    blocking = waits[api.name] if named else np.empty(0, bool)
    nested = tuple(
        np.concatenate([pair[i] for pair in twins] or [np.empty(0, np.int64)]) for i in (0, 1)
    )
    return Calls(
        kind,
        captured,
        capturing,
        has_op,
        has_span,
        blocking,
        failed,
        unnamed & ~failed,
        unlisted,
        (nested[0], nested[1]),
    )


def _without_failed(
    api: ApiTable, kind: npt.NDArray[np.int8]
) -> tuple[npt.NDArray[np.int8], BoolColumn]:
    """The kinds, OTHER for calls that failed; and which failed, those inside others left out.

    An EndCapture that fails ends the capture all the same.
    """
    if api.result is None:
        return kind, np.broadcast_to(np.False_, kind.shape)
    not_ready = (kind == CallKind.QUERY) & np.isin(api.result, _NOT_READY)
    rows = np.flatnonzero((api.result != 0) & ~not_ready)
    kind = kind.copy()
    kind[rows[kind[rows] != CallKind.END_CAPTURE]] = CallKind.OTHER
    hosts = hosts_of(api.thread[rows].astype(np.int64), api.start_ns[rows], api.end_ns[rows])
    failed = np.zeros(kind.size, bool)
    failed[rows[hosts == np.arange(rows.size)]] = True
    return kind, failed


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
