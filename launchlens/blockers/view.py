"""A trace and its steps as the rules look at them: rows of API calls, kinds, following calls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from launchlens.calls import CallKind, base_name
from launchlens.calls.classing import class_calls
from launchlens.calls.step_calls import calls_of, calls_of_processes
from launchlens.records.columns import OpKind, Trace
from launchlens.records.figures import Step

Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Kinds = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class View:
    """Columns that every rule needs, made once for a trace and the steps of one phase."""

    trace: Trace
    steps: tuple[Step, ...]
    """The steps, without doubles (a step on two devices counts once)."""
    first: Rows
    """First API row of each step, shape (steps,), as the next three."""
    last: Rows
    """One past its last API row."""
    process: Rows
    """Index of its process."""
    thread: Rows
    """Index of its thread."""
    kind: Kinds
    """`CallKind` of each API call as it counts, shape (calls,); what a thread calls while it
    captures is OTHER, unless it has a GPU operation all the same."""
    bases: tuple[str, ...]
    """Base name of each entry of ``trace.api.names``."""
    blocking: Mask
    """Whether each call is a copy that waits by itself, shape (calls,)."""
    has_op: Mask
    """Whether the trace has what each call submitted, shape (calls,)."""
    op_of_call: Rows
    """First GPU operation of each API call, -1 without, shape (calls,)."""
    telling: Rows
    """Rows whose kind is not OTHER, ascending."""
    submitting: Rows
    """Rows that submitted a GPU operation, ascending."""
    busy_before: Rows
    """For each GPU operation, when all that began before it on its GPU had ended; the smallest
    int64 for the first, shape (operations,)."""

    @property
    def size(self) -> int:
        """Number of steps."""
        return len(self.steps)

    def step_of(self, rows: Rows) -> Rows:
        """Step that owns each API row, -1 without; rows in any order."""
        order = np.argsort(self.first, kind="stable")
        place = np.searchsorted(self.first[order], rows, side="right") - 1
        step = order[np.maximum(place, 0)]
        inside = (place >= 0) & (rows < self.last[step])
        return np.where(inside, step, -1)

    def rows_with(self, *kinds: CallKind) -> tuple[Rows, Rows]:
        """API rows of the given kinds inside steps, and the step of each; ascending."""
        return self._inside(self.telling[np.isin(self.kind[self.telling], kinds)])

    def rows_named(self, pattern: str) -> tuple[Rows, Rows]:
        """The same for calls whose base names a pattern matches at their beginning."""
        return self._inside(np.flatnonzero(self.are_named(pattern, slice(None))))

    def are_named(self, pattern: str, rows: Rows | slice) -> Mask:
        """Whether these rows are such calls."""
        wanted = [i for i, base in enumerate(self.bases) if re.match(pattern, base)]
        return np.isin(self.trace.api.name[rows], wanted)

    def _inside(self, rows: Rows) -> tuple[Rows, Rows]:
        step = self.step_of(rows)
        return rows[step >= 0], step[step >= 0]

    def rows_around(self, *kinds: CallKind) -> tuple[Rows, Rows, Mask]:
        """Calls of the given kinds on any thread of a step's process while the step runs.

        Rows, the step of each, and whether it was made on another thread than the step's.
        """
        rows = self.telling[np.isin(self.kind[self.telling], kinds)]
        process = self.trace.api.process[rows]
        order = np.argsort(self.trace.api.start_ns[rows], kind="stable")
        start = self.trace.api.start_ns[rows][order]
        found = []
        for i, step in enumerate(self.steps):
            low = np.searchsorted(start, step.start_ns, side="left")
            high = np.searchsorted(start, step.end_ns, side="right")
            mine = order[low:high]
            found.append(np.sort(rows[mine[process[mine] == self.process[i]]]))
        row = np.concatenate([np.empty(0, np.int64), *found])
        step_of = np.repeat(np.arange(len(found)), [mine.size for mine in found])
        return row, step_of, self.trace.api.thread[row] != self.thread[step_of]

    def next_telling(self, rows: Rows) -> Rows:
        """The next row of a kind after each row on the same thread, -1 without."""
        return self._next(self.telling, rows)

    def next_submission(self, rows: Rows, step: Rows) -> Rows:
        """The next row after each that submitted work in the same step, -1 without."""
        following = self._next(self.submitting, rows)
        return np.where((following >= 0) & (following < self.last[step]), following, -1)

    def _next(self, among: Rows, rows: Rows) -> Rows:
        if among.size == 0:
            return np.full(rows.size, -1, np.int64)
        place = np.searchsorted(among, rows, side="right")
        following = among[np.minimum(place, among.size - 1)]
        thread = self.trace.api.thread
        same = (place < among.size) & (thread[following] == thread[rows])
        return np.where(same, following, -1)


@dataclass(frozen=True, slots=True)
class CallsSeen:
    """`View.kind`, `View.blocking` and `View.has_op` of a trace, whichever steps are looked at."""

    kind: Kinds
    blocking: Mask
    has_op: Mask


def see_calls(trace: Trace) -> CallsSeen:
    """The calls of a trace as rules look at them."""
    calls = class_calls(trace)
    kind, waits = calls.kind, calls.blocking & (calls.kind != CallKind.SYNC)
    if calls.capturing.any():
        inert = calls.capturing & ~calls.has_op & ~calls.has_span
        kind = np.where(inert & (kind != CallKind.BEGIN_CAPTURE), CallKind.OTHER, kind)
    return CallsSeen(kind.astype(np.int8), waits, calls.has_op | calls.has_span)


def make_view(
    trace: Trace, calls: CallsSeen, steps: Sequence[Step], *, all_threads: bool = False
) -> View:
    """Prepare a trace and steps of one phase, on their own threads or ``all_threads``.

    Steps whose thread the trace does not have are left out, and those that submit nothing: there
    is nothing in them to capture.
    """
    threads = {
        (trace.processes[t.process].pid, t.tid): i
        for i, t in reversed(list(enumerate(trace.threads)))
    }
    kept: dict[tuple[int, int, int, int], Step] = {}
    for step in steps:
        if (step.pid, step.tid) in threads:
            kept.setdefault((step.pid, step.tid, step.start_ns, step.end_ns), step)
    chosen = tuple(kept.values())
    thread = np.array([threads[s.pid, s.tid] for s in chosen], np.int64)
    start = np.array([s.start_ns for s in chosen], np.int64)
    end = np.array([s.end_ns for s in chosen], np.int64)
    processes = np.array([t.process for t in trace.threads] or [0], np.int64)
    if all_threads:
        own = calls_of_processes(trace.api, processes[thread])
    else:
        own = calls_of(trace.api, thread, start, end)
    works = (calls.kind >= CallKind.KERNEL) & (calls.kind <= CallKind.MEMSET) | calls.has_op
    busy = np.flatnonzero(own.within(np.flatnonzero(works)).count)
    own, thread, chosen = own.take(busy), thread[busy], tuple(chosen[i] for i in busy.tolist())
    op_of_call = np.full(trace.api.start_ns.size, -1, np.int64)
    linked = np.flatnonzero(trace.ops.api_row >= 0)[::-1]  # the earliest operation is written last
    op_of_call[trace.ops.api_row[linked]] = linked
    return View(
        trace=trace,
        steps=chosen,
        first=own.low,
        last=own.high,
        process=processes[thread],
        thread=thread,
        kind=calls.kind,
        bases=tuple(base_name(n) for n in trace.api.names),
        blocking=calls.blocking,
        has_op=calls.has_op,
        op_of_call=op_of_call,
        telling=np.flatnonzero(calls.kind != CallKind.OTHER),
        submitting=np.flatnonzero(op_of_call >= 0),
        busy_before=_busy_before(trace),
    )


def _busy_before(trace: Trace) -> Rows:
    ops = trace.ops
    physical = np.array([d.gpu for d in trace.devices] or [0], np.int64)
    gpu = physical[np.maximum(ops.device, 0)]
    before = np.full(ops.start_ns.size, np.iinfo(np.int64).min, np.int64)
    for one in np.unique(gpu).tolist():
        mine = np.flatnonzero(gpu == one)
        before[mine[1:]] = np.maximum.accumulate(ops.end_ns[mine])[:-1]
    return before


def kernel_names(view: View, ops: Rows) -> list[str]:
    """Names of GPU operations: the kernel's, or what kind of operation it is."""
    table = view.trace.ops
    kinds = {OpKind.MEMCPY: "memcpy", OpKind.MEMSET: "memset", OpKind.GRAPH: "CUDA graph"}
    return [
        view.trace.strings[int(table.name[op])]
        if table.name[op] >= 0
        else kinds.get(OpKind(int(table.kind[op])), "kernel")
        for op in ops.tolist()
    ]
