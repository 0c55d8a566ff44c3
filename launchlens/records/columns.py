"""A trace as columns of NumPy arrays: what `trace` hands to `metrics` and `blockers`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from launchlens.records.figures import TraceInfo
from launchlens.records.recorder import Recorder

IntColumn = npt.NDArray[np.int64]
SmallColumn = npt.NDArray[np.int32]
IdColumn = npt.NDArray[np.signedinteger[Any]]  # int32 where the ids fit, else int64
BoolColumn = npt.NDArray[np.bool_]


class OpKind(IntEnum):
    """Kinds of GPU operation; GRAPH is a graph that was traced as one span."""

    KERNEL = 0
    MEMCPY = 1
    MEMSET = 2
    GRAPH = 3


class CopyDirection(IntEnum):
    """Between which memories a copy goes; NONE for a memset, OTHER for what is none of these."""

    NONE = -1
    OTHER = 0
    HTOD = 1
    DTOH = 2
    DTOD = 3
    HTOH = 4
    PTOP = 5
    MIGRATION = 6
    """Unified memory moves its pages: no call asks for it."""


@dataclass(frozen=True, slots=True)
class ApiTable:
    """Calls of the CUDA API, sorted by thread, then start.

    All columns have shape (calls,). ``name`` indexes ``names`` (spelled as in the trace,
    with version suffix, in angle brackets where there is none); ``process`` and ``thread`` index
    `Trace.processes` and `Trace.threads`; the threads of a process are neighbours.
    ``callchain_id`` is `ChainRow.chain_id` of the call's stack, 0 or -1 without. ``result`` is
    what each call returned, 0 for success; None where all succeeded.
    """

    start_ns: IntColumn
    end_ns: IntColumn
    process: SmallColumn
    thread: SmallColumn
    correlation_id: IdColumn
    name: SmallColumn
    names: tuple[str, ...]
    callchain_id: IdColumn
    result: IdColumn | None = None


@dataclass(frozen=True, slots=True)
class OpTable:
    """GPU operations of every `OpKind` whose time is known, sorted by start.

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

    @classmethod
    def empty(cls) -> OpTable:
        """A table without rows."""
        times, small = np.empty(0, np.int64), np.empty(0, np.int32)
        kind, flags = np.empty(0, np.int8), np.empty(0, np.bool_)
        return cls(times, times, kind, small, small, small, times, small, flags, small)


@dataclass(frozen=True, slots=True)
class CopyTable:
    """What only copies and memsets have, one row for each such operation.

    ``op_row`` points into `OpTable`. ``direction`` is a `CopyDirection`; ``src_kind`` and
    ``dst_kind`` are labels such as "Pageable" or "Device" as indexes into ``mem_kinds``
    (-1 unknown).
    """

    op_row: SmallColumn
    bytes: IntColumn
    direction: npt.NDArray[np.int8]
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
    """A traced process."""

    key: int
    """Tells it apart from all others of the trace; simultaneous operations go by its order."""
    pid: int
    """The system's process id."""
    name: str | None = None
    """Its name, where the trace has it."""


@dataclass(frozen=True, slots=True)
class Thread:
    """A traced thread."""

    key: int
    """Tells it apart from all others of the trace; call stacks name their thread by it."""
    tid: int
    """The system's thread id."""
    process: int
    """Index of its process."""


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU as one process numbers it."""

    process: int
    """Index of the process."""
    device_id: int
    """The process's number for it."""
    gpu: int
    """Tells the physical GPU apart from others."""
    name: str | None = None
    """The GPU's name."""
    is_certain: bool = True
    """Whether ``gpu`` is known: if not, it may be the same GPU as another process's device."""
    default_streams: tuple[int, ...] = ()
    """Streams that are the default one of a context on it; empty where the trace does not tell."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One trace in columns: what every figure is computed from.

    ``has_api`` tells whether the trace has API calls at all: nsys writes no table without
    events, so that its absence alone does not say that nothing was called.

    ``untimed`` holds operations that ran at a time unknown (no start or end, or an end before the
    start), in no order; ``stray_calls`` counts calls that no step can own, as they name no thread
    or no time.
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
    recorder: Recorder = field(default_factory=Recorder)
    """How to record what the trace lacks."""
    untimed: OpTable = field(default_factory=OpTable.empty)
    """Operations without a time."""
    stray_calls: int = 0
    """Calls without a thread or a time."""
