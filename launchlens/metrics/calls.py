"""Kinds of CUDA API call, told by base name, and which of a trace's calls count as what."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from launchlens.records.columns import ApiTable, OpTable


class CallKind(IntEnum):
    """What a CUDA API call does, as far as the figures tell calls apart."""

    OTHER = 0
    KERNEL = 1
    GRAPH = 2
    MEMCPY = 3
    MEMSET = 4
    SYNC = 5
    ALLOC = 6
    BEGIN_CAPTURE = 7
    END_CAPTURE = 8


_SUFFIX = re.compile(r"(_v\d+|_ptsz|_ptds)+$")
_KERNEL = {
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cudaLaunchCooperativeKernel",
    "cudaLaunchCooperativeKernelMultiDevice",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cuLaunchCooperativeKernel",
    "cuLaunchCooperativeKernelMultiDevice",
}
_GRAPH = {"cudaGraphLaunch", "cuGraphLaunch"}
_SYNC = {
    "cudaDeviceSynchronize",
    "cudaStreamSynchronize",
    "cudaEventSynchronize",
    "cudaThreadSynchronize",
    "cuCtxSynchronize",
    "cuStreamSynchronize",
    "cuEventSynchronize",
}
_ALLOC = re.compile(
    r"^(cuda(Malloc|Free|HostAlloc|HostRegister|HostUnregister)"
    r"|cuMem(Alloc|Free|Create|Release|HostAlloc|HostRegister|HostUnregister|AddressReserve|Map|Unmap))"
)
_MEMCPY = re.compile(r"^cu(da)?Memcpy(?!.*Attribute)")
_MEMSET = re.compile(r"^cu(da)?Memset")


def base_name(name: str) -> str:
    """An API name without version and stream suffixes (``cudaLaunchKernel_v7000``)."""
    return _SUFFIX.sub("", name)


def call_kind(name: str) -> CallKind:  # noqa: PLR0911 - one line for each kind
    """Kind of an API call by its name, with or without suffixes."""
    base = base_name(name)
    if base in _KERNEL:
        return CallKind.KERNEL
    if base in _GRAPH:
        return CallKind.GRAPH
    if base in _SYNC:
        return CallKind.SYNC
    if re.match(r"^cu(da)?StreamBeginCapture", base):
        return CallKind.BEGIN_CAPTURE
    if re.match(r"^cu(da)?StreamEndCapture", base):
        return CallKind.END_CAPTURE
    if _MEMCPY.match(base):
        return CallKind.MEMCPY
    if _MEMSET.match(base):
        return CallKind.MEMSET
    if _ALLOC.match(base):
        return CallKind.ALLOC
    return CallKind.OTHER


def blocks_host(name: str) -> bool:
    """Whether the call makes its thread wait: a synchronize, or a copy without Async."""
    kind = call_kind(name)
    return kind is CallKind.SYNC or (kind is CallKind.MEMCPY and "Async" not in name)


@dataclass(frozen=True, slots=True)
class Calls:
    """A trace's API calls, classed.

    Attributes:
        kind: kind of each call as it counts, shape (calls,): a driver call made inside a
            runtime call of the same kind is OTHER (its work counts once).
        captured: calls that submitted nothing because their stream was being captured.
        has_op: whether the call (or the driver call inside it) has a GPU operation.
        has_span: whether it has a whole-graph row.
        blocking: whether the call makes its thread wait.
    """

    kind: npt.NDArray[np.int8]
    captured: npt.NDArray[np.bool_]
    has_op: npt.NDArray[np.bool_]
    has_span: npt.NDArray[np.bool_]
    blocking: npt.NDArray[np.bool_]

    @property
    def hidden(self) -> npt.NDArray[np.bool_]:
        """Graph launches of which the trace shows no work."""
        graphs: npt.NDArray[np.bool_] = self.kind == CallKind.GRAPH
        return graphs & ~self.captured & ~self.has_op & ~self.has_span


def class_calls(api: ApiTable, ops: OpTable, graph_kind: int) -> Calls:
    """Class every call of a trace (see `Calls`); ``graph_kind`` is `OpKind.GRAPH`."""
    kinds = np.array([int(call_kind(n)) for n in api.names] or [0], np.int8)
    waits = np.array([blocks_host(n) for n in api.names] or [False])
    kind = kinds[api.name] if api.name.size else np.empty(0, np.int8)
    has_op = np.zeros(kind.size, bool)
    has_span = np.zeros(kind.size, bool)
    is_span = ops.kind == graph_kind
    linked = ops.api_row >= 0
    has_op[ops.api_row[linked & ~is_span]] = True
    has_span[ops.api_row[linked & is_span]] = True
    kind, twins = _count_twins_once(api, kind)
    for inner, outer in twins:
        has_op[outer] |= has_op[inner]
        has_span[outer] |= has_span[inner]
    submits = (kind >= CallKind.KERNEL) & (kind <= CallKind.MEMSET)
    captured = _inside_capture(api, kind) & submits & ~has_op & ~has_span
    blocking = waits[api.name] if api.name.size else np.empty(0, bool)
    return Calls(kind, captured, has_op, has_span, blocking)


def _count_twins_once(
    api: ApiTable, kind: npt.NDArray[np.int8]
) -> tuple[npt.NDArray[np.int8], list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]]:
    """Calls nested in a call of the same kind on the same thread no longer count.

    nsys usually records the outer call only, so the common case is settled by one comparison
    of neighbours: nothing nested at all.
    """
    twins = []
    for wanted in (
        CallKind.KERNEL,
        CallKind.GRAPH,
        CallKind.MEMCPY,
        CallKind.MEMSET,
        CallKind.SYNC,
        CallKind.ALLOC,
    ):
        rows = np.flatnonzero(kind == wanted)
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


def _inside_capture(api: ApiTable, kind: npt.NDArray[np.int8]) -> npt.NDArray[np.bool_]:
    """Calls on a thread between its BeginCapture and EndCapture."""
    begin, end = kind == CallKind.BEGIN_CAPTURE, kind == CallKind.END_CAPTURE
    inside = np.zeros(kind.size, bool)
    for thread in np.unique(api.thread[begin]).tolist():
        low, high = np.searchsorted(api.thread, [thread, thread + 1])
        depth = np.cumsum(begin[low:high].astype(np.int32) - end[low:high].astype(np.int32))
        # An EndCapture whose BeginCapture came before the recording closes nothing here.
        inside[low:high] = depth > np.minimum(np.minimum.accumulate(depth), 0)
    return inside
