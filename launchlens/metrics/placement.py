"""Operations that no device can be told for, and whose figures they leave unknown.

A whole-graph row may carry no device (INT_MAX, see `launchlens.trace`). In a process with several
devices such a row kept one of them busy, and nothing says which.
"""

from __future__ import annotations

import numpy as np

from launchlens.calls.step_calls import Slices
from launchlens.intervals import Cover
from launchlens.metrics.idle import Windows
from launchlens.metrics.step_ops import Owned
from launchlens.records.columns import BoolColumn, IntColumn, Trace


class Unplaced:
    """The operations of a trace that have no device."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        numbers = [i for i, device in enumerate(trace.devices) if device.device_id < 0]
        none = np.empty(0, np.int64)
        self._rows = np.flatnonzero(np.isin(trace.ops.device, numbers)) if numbers else none

    def count(self, calls: Slices) -> IntColumn:
        """How many each step owns; shape as the slices of their calls."""
        return calls.within(np.sort(self._trace.ops.api_row[self._rows])).count

    def beside(self, gpu: IntColumn, start_ns: IntColumn, end_ns: IntColumn) -> BoolColumn:
        """Which windows have one that may have run on their GPU; all shapes (rows,)."""
        found = np.zeros(gpu.size, bool)
        ops, devices = self._trace.ops, self._trace.devices
        for process in np.unique(ops.process[self._rows]).tolist():
            rows = self._rows[ops.process[self._rows] == process]
            mine = [d.gpu for d in devices if d.process == process and d.device_id >= 0]
            possible = np.isin(gpu, mine) if mine else np.ones(gpu.size, bool)
            cover = Cover.of(ops.start_ns[rows], ops.end_ns[rows])
            found |= possible & (cover.length_within(start_ns, end_ns) > 0)
        return found


def may_share_gpu(trace: Trace, owned: Owned, rows: IntColumn, windows: Windows) -> BoolColumn:
    """Which windows would be busier if an uncertain device were another process's GPU.

    Args:
        trace: the trace.
        owned: what its steps own.
        rows: the row of each window, shape (windows,).
        windows: the windows.
    """
    found = np.zeros(rows.size, bool)
    uncertain = [i for i, device in enumerate(trace.devices) if not device.is_certain]
    ops = trace.ops
    for number in uncertain:
        mine = np.flatnonzero(owned.device[rows] == number)
        process = trace.devices[number].process
        others = [i for i in uncertain if trace.devices[i].process != process]
        if mine.size == 0 or not others:
            continue
        own = np.flatnonzero(ops.device == number)
        all_ = np.flatnonzero(np.isin(ops.device, [number, *others]))
        start, end = windows.start_ns[mine], windows.end_ns[mine]
        alone, together = (
            Cover.of(ops.start_ns[at], ops.end_ns[at]).length_within(start, end)
            for at in (own, all_)
        )
        found[mine] = alone != together
    return found
