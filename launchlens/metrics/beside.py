"""What other threads submit while a step runs: not the step's work, but worth telling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from launchlens.calls import CallKind
from launchlens.calls.classing import Calls
from launchlens.calls.step_calls import Slices
from launchlens.records.columns import BoolColumn, IntColumn, Trace


@dataclass(frozen=True, slots=True)
class Beside:
    """Launches, copies and memsets of other threads within the range of each row."""

    by_thread: dict[int, IntColumn]
    """By the thread that made them; shape (rows,) each."""
    rows: int

    @property
    def total(self) -> IntColumn:
        """Of all other threads together."""
        zero = np.zeros(self.rows, np.int64)
        return sum(self.by_thread.values(), zero)


def submitted_beside(
    trace: Trace,
    calls: Calls,
    own: Slices,
    thread: IntColumn,
    start_ns: IntColumn,
    end_ns: IntColumn,
    alone: BoolColumn,
) -> Beside:
    """What other threads submit within ranges, without what is some other step's own.

    Args:
        trace: the trace.
        calls: its calls, classed.
        own: the calls of each row; as the following of shape (rows,).
        thread: its thread.
        start_ns: its range's start.
        end_ns: its range's end.
        alone: rows that own the calls of all threads.
    """
    api = trace.api
    found: dict[int, IntColumn] = {}
    if len(trace.threads) < 2 or api.thread.size == 0 or api.thread[0] == api.thread[-1]:
        return Beside(found, thread.size)
    submits = (calls.kind >= CallKind.KERNEL) & (calls.kind <= CallKind.MEMSET) & ~calls.captured
    depth = np.zeros(api.start_ns.size + 1, np.int32)
    np.add.at(depth, own.low, 1)
    np.add.at(depth, own.high, -1)
    submits &= np.cumsum(depth[:-1]) == 0
    rows = np.flatnonzero(submits)
    process = np.array([t.process for t in trace.threads] or [0], np.int64)
    for other in np.unique(api.thread[rows]).tolist():
        starts = api.start_ns[rows[api.thread[rows] == other]]
        within = np.searchsorted(starts, end_ns, "right") - np.searchsorted(starts, start_ns)
        within[(thread == other) | (process[thread] != process[other]) | alone] = 0
        if within.any():
            found[other] = np.maximum(within, 0)
    return Beside(found, thread.size)
