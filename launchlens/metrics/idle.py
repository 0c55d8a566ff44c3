"""Busy time, idle time, and what each gap waited for (docs/definitions.md, device side)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from launchlens.calls.classing import Calls
from launchlens.intervals import Cover, Pieces, batches, uncovered_pieces
from launchlens.records.columns import IntColumn, OpKind, SmallColumn, Trace


class GapKind(IntEnum):
    """Where a gap lies; WAITING gaps split into host, launch and sync instants."""

    LEAD_IN = 0
    TAIL = 1
    UNLINKED = 2
    DEVICE = 3
    WAITING = 4

    @property
    def cause(self) -> str:
        """The cause, as `Gaps` names it, that a gap of this kind has as a whole."""
        return self.name.lower()


class Wait(IntEnum):
    """What the instants of a WAITING gap waited for; with `GapKind` all causes that `Gaps` has."""

    HOST = 0
    LAUNCH = 1
    SYNC = 2

    @property
    def cause(self) -> str:
        """The cause, as `Gaps` names it."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class GapTable:
    """Every gap of every window. All columns have shape (gaps,).

    ``row`` indexes the rows the windows came from. ``host_ns``, ``launch_ns`` and ``sync_ns``
    are the instants of a WAITING gap by cause (they sum to its length; 0 for other kinds).
    ``next_op`` is the operation that ends the gap (-1 for tails).
    """

    row: SmallColumn
    start_ns: IntColumn
    end_ns: IntColumn
    kind: npt.NDArray[np.int8]
    launch_ns: IntColumn
    sync_ns: IntColumn
    next_op: SmallColumn

    @property
    def host_ns(self) -> IntColumn:
        """Instants of WAITING gaps in which the CPU was busy elsewhere."""
        rest = self.length_ns - self.launch_ns - self.sync_ns
        return np.where(self.kind == GapKind.WAITING, rest, np.int64(0))

    @property
    def length_ns(self) -> IntColumn:
        """Length of each gap."""
        return self.end_ns - self.start_ns

    def by_cause(self, rows: int) -> dict[str, IntColumn]:
        """Idle time of each row by cause; shape (rows,) each. The causes sum to the idle time."""
        parts = {
            kind.cause: np.where(self.kind == kind, self.length_ns, 0)
            for kind in GapKind
            if kind is not GapKind.WAITING
        }
        waits = {Wait.HOST: self.host_ns, Wait.LAUNCH: self.launch_ns, Wait.SYNC: self.sync_ns}
        parts |= {wait.cause: ns for wait, ns in waits.items()}
        # float64 weights are exact below 2**53 ns (104 days).
        return {
            cause: np.bincount(self.row, ns, rows).astype(np.int64) for cause, ns in parts.items()
        }


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows on devices: one for each row that has a device; shapes (rows,).

    ``gpu`` is the physical GPU, ``first_own_ns`` the start of the step's first own operation,
    ``thread`` the step's thread.
    """

    start_ns: IntColumn
    end_ns: IntColumn
    gpu: IntColumn
    first_own_ns: IntColumn
    thread: IntColumn


@dataclass(frozen=True, slots=True)
class DeviceTime:
    """Busy time within the windows (all operations; kernels and graph spans), and their gaps."""

    busy_ns: IntColumn
    kernel_busy_ns: IntColumn
    projected_busy_ns: IntColumn
    gaps: GapTable


def measure_windows(
    trace: Trace, calls: Calls, windows: Windows, last_own_ns: IntColumn
) -> DeviceTime:
    """Busy time and gaps of each window, on its own GPU, counting every step's operations."""
    size = windows.start_ns.size
    busy, kernel_busy, projected = (np.zeros(size, np.int64) for _ in range(3))
    parts: list[_Columns] = []
    waits = BlockingCovers(trace, calls)
    gpu_of_op = np.array([d.gpu for d in trace.devices] or [0], np.int64)
    for gpu in np.unique(windows.gpu).tolist():
        rows = np.flatnonzero(windows.gpu == gpu)
        ops = _ops_on(trace, gpu_of_op, gpu)
        begin, finish = windows.start_ns[rows], windows.end_ns[rows]
        kernel_busy[rows] = _kernel_cover(trace, ops).length_within(begin, finish)
        cover = Cover.of(trace.ops.start_ns[ops], trace.ops.end_ns[ops], is_sorted=True)
        busy[rows] = cover.length_within(begin, finish)
        projected[rows] = cover.length_within(windows.first_own_ns[rows], last_own_ns[rows])
        before = np.searchsorted(cover.end_ns, begin)
        for first, last in batches(np.searchsorted(cover.start_ns, finish) - before + 1):
            chosen = slice(first, last)
            pieces = uncovered_pieces(cover, begin[chosen], finish[chosen])
            parts.append(_attribute(trace, windows, waits, rows[chosen], pieces, cover, ops))
        del cover
    return DeviceTime(busy, kernel_busy, projected, _joined(parts))


_Columns = dict[str, npt.NDArray[Any]]


def _kernel_cover(trace: Trace, ops: slice | IntColumn) -> Cover:
    """When kernels and graph spans ran: without copies and memsets."""
    kind = trace.ops.kind[ops]
    works = (kind == OpKind.KERNEL) | (kind == OpKind.GRAPH)
    start, end = trace.ops.start_ns[ops], trace.ops.end_ns[ops]
    return Cover.of(start[works], end[works], is_sorted=True)


def _ops_on(trace: Trace, gpu_of_op: IntColumn, gpu: int) -> slice | IntColumn:
    if (gpu_of_op == gpu).all():
        return slice(None)
    return np.flatnonzero(gpu_of_op[trace.ops.device] == gpu)


class BlockingCovers:
    """For each thread, the instants at which it was inside a blocking call."""

    def __init__(self, trace: Trace, calls: Calls) -> None:
        self._api = trace.api
        self._rows = np.flatnonzero(calls.blocking)
        self._thread = trace.api.thread[self._rows]
        self._made: dict[int, Cover] = {}

    def of(self, thread: int) -> Cover:
        """The cover of one thread's synchronize calls and blocking copies."""
        if thread not in self._made:
            rows = self._rows[self._thread == thread]
            self._made[thread] = Cover.of(self._api.start_ns[rows], self._api.end_ns[rows])
        return self._made[thread]


def _attribute(
    trace: Trace,
    windows: Windows,
    waits: BlockingCovers,
    rows: IntColumn,
    pieces: Pieces,
    cover: Cover,
    ops: slice | IntColumn,
) -> _Columns:
    row = rows[pieces.window]
    g0, g1 = pieces.start_ns, pieces.end_ns
    is_tail = pieces.next_piece < 0
    begins = cover.start_ns[pieces.next_piece] if cover.start_ns.size else pieces.start_ns
    next_op = np.where(is_tail, -1, _first_to_start(trace, begins, ops))
    api_row = np.where(is_tail, -1, trace.ops.api_row[np.maximum(next_op, 0)])
    if trace.api.start_ns.size:
        called = trace.api.start_ns[np.maximum(api_row, 0)]
    else:
        called = np.zeros(g0.size, np.int64)
    kind = np.full(g0.size, GapKind.WAITING, np.int8)
    kind[called <= g0] = GapKind.DEVICE
    kind[api_row < 0] = GapKind.UNLINKED
    kind[is_tail] = GapKind.TAIL
    kind[(g1 <= windows.first_own_ns[row]) & ~is_tail] = GapKind.LEAD_IN
    called = np.clip(called, g0, g1)
    waited_before, waited_after = np.zeros(g0.size, np.int64), np.zeros(g0.size, np.int64)
    waiting = kind == GapKind.WAITING
    thread = windows.thread[row]
    for t in np.unique(thread[waiting]).tolist():
        mine = np.flatnonzero(waiting & (thread == t))
        blocked = waits.of(t)
        waited_before[mine] = blocked.length_within(g0[mine], called[mine])
        waited_after[mine] = blocked.length_within(called[mine], g1[mine])
    return {
        "row": row.astype(np.int32),
        "start_ns": g0,
        "end_ns": g1,
        "kind": kind,
        "launch_ns": np.where(waiting, g1 - called - waited_after, np.int64(0)),
        "sync_ns": waited_before + waited_after,
        "next_op": next_op.astype(np.int32),
    }


def _first_to_start(trace: Trace, begins: IntColumn, ops: slice | IntColumn) -> IntColumn:
    """The operation that starts at each instant; of several, smallest (process, correlation)."""
    start = trace.ops.start_ns[ops]
    if start.size == 0:
        return np.full(begins.size, -1, np.int64)
    index = np.clip(np.searchsorted(start, begins), 0, start.size - 1)
    following = np.minimum(index + 1, start.size - 1)
    tied = (following != index) & (start[following] == start[index])
    if tied.any():
        same = np.flatnonzero(start[1:] == start[:-1])
        members = np.unique(np.concatenate([same, same + 1]))
        rows = members if isinstance(ops, slice) else ops[members]
        pids = np.array([p.key for p in trace.processes], np.int64)
        best = np.lexsort(
            (trace.ops.correlation_id[rows], pids[trace.ops.process[rows]], start[members])
        )
        chosen = members[best]
        index[tied] = chosen[np.searchsorted(start[chosen], begins[tied])]
    return index if isinstance(ops, slice) else ops[index]


def _joined(parts: Sequence[_Columns]) -> GapTable:
    """One table from many; each column's parts are let go as soon as they are joined."""
    if not parts:
        empty, small = np.empty(0, np.int64), np.empty(0, np.int32)
        return GapTable(small, empty, empty, np.empty(0, np.int8), empty, empty, small)
    names = [f.name for f in fields(GapTable)]
    return GapTable(*(np.concatenate([part.pop(name) for part in parts]) for name in names))
