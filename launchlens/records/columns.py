"""A trace as columns of NumPy arrays: what `trace` hands to `metrics` and `blockers`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from launchlens.records.figures import TraceInfo

IntColumn = npt.NDArray[np.int64]
SmallColumn = npt.NDArray[np.int32]
IdColumn = npt.NDArray[np.signedinteger[Any]]  # int32 where the ids fit, else int64
BoolColumn = npt.NDArray[np.bool_]


class OpKind(IntEnum):
    """Kinds of GPU operation, by the export's table."""

    KERNEL = 0
    MEMCPY = 1
    MEMSET = 2
    GRAPH = 3


@dataclass(frozen=True, slots=True)
class ApiTable:
    """Calls of the CUDA API (CUPTI_ACTIVITY_KIND_RUNTIME), sorted by thread, then start.

    All columns have shape (calls,). ``name`` indexes ``names`` (spelled as in the export, with
    version suffix); ``process`` and ``thread`` index `Trace.processes` and `Trace.threads`.
    """

    start_ns: IntColumn
    end_ns: IntColumn
    process: SmallColumn
    thread: SmallColumn
    correlation_id: IdColumn
    name: SmallColumn
    names: tuple[str, ...]
    callchain_id: IdColumn


@dataclass(frozen=True, slots=True)
class OpTable:
    """GPU operations (tables KERNEL, MEMCPY, MEMSET, GRAPH_TRACE), sorted by start.

    All columns have shape (operations,). ``device`` indexes `Trace.devices`. ``name`` indexes
    `Trace.strings` for kernels and is -1 otherwise. ``is_node`` is true for rows with a graph
    node id. ``api_row`` is the row of the API call that submitted the operation, -1 without.
    """

    start_ns: IntColumn
    end_ns: IntColumn
    kind: npt.NDArray[np.int8]
    process: SmallColumn
    device: SmallColumn
    stream_id: SmallColumn
    correlation_id: IdColumn
    name: SmallColumn
    is_node: BoolColumn
    api_row: SmallColumn


@dataclass(frozen=True, slots=True)
class CopyTable:
    """What only copies and memsets have, one row for each such operation.

    ``op_row`` points into `OpTable`. ``copy_kind`` is nsys's copyKind (1 HtoD, 2 DtoH, 8 DtoD,
    …, -1 for a memset); ``src_kind`` and ``dst_kind`` are labels such as "Pageable" or "Device"
    as indexes into ``mem_kinds`` (-1 unknown).
    """

    op_row: SmallColumn
    bytes: IntColumn
    copy_kind: SmallColumn
    src_kind: SmallColumn
    dst_kind: SmallColumn
    mem_kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RangeTable:
    """NVTX ranges (push/pop and start/end) with an end, sorted by thread, then start.

    ``text`` indexes ``texts``; ``domain`` indexes ``domains`` ("" is the default domain).
    ``payload`` is the range's integer payload, or the smallest int64 without one.
    """

    start_ns: IntColumn
    end_ns: IntColumn
    process: SmallColumn
    thread: SmallColumn
    text: SmallColumn
    texts: tuple[str, ...]
    domain: SmallColumn
    domains: tuple[str, ...]
    payload: IntColumn


@dataclass(frozen=True, slots=True)
class Process:
    """A traced process: nsys's globalPid, the system's pid, its name where the trace has it."""

    global_pid: int
    pid: int
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Thread:
    """A traced thread: nsys's globalTid, the system's tid, index of its process."""

    global_tid: int
    tid: int
    process: int


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU as one process numbers it. ``gpu`` tells the physical GPU apart from others."""

    process: int
    device_id: int
    gpu: int
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """One nsys export in columns: what every figure is computed from.

    ``has_api`` tells whether the export has a table of API calls at all: nsys writes no table
    without events, so its absence alone does not say that nothing was called.
    """

    info: TraceInfo
    api: ApiTable
    ops: OpTable
    copies: CopyTable
    ranges: RangeTable
    processes: tuple[Process, ...]
    threads: tuple[Thread, ...]
    devices: tuple[Device, ...]
    strings: tuple[str, ...]
    has_api: bool
