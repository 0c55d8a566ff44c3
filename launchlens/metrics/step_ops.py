"""Which GPU operations each step owns, and on which device.

A step owns the operations with the same (process, correlation id) as one of its calls: never by
overlap in time on the GPU. Its calls are one slice (`launchlens.calls.step_calls`), and with
operations sorted by their call its operations are one too, so everything below is a binary search.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from launchlens.calls.step_calls import Slices
from launchlens.records.columns import (
    BoolColumn,
    IdColumn,
    IntColumn,
    OpKind,
    OpTable,
    SmallColumn,
    Trace,
)
from launchlens.records.figures import GraphTracing


@dataclass(frozen=True, slots=True)
class Owned:
    """Steps split by device: one row for each (step, device) with operations.

    A step without any operation, or whose work cannot all be given to a device, has one row with
    device -1 and no operations. ``step`` indexes the step list,
    ``device`` indexes `Trace.devices`; ``is_primary`` marks the device with most of the step's
    operations, to which calls without an operation are counted; ``is_split`` marks rows of
    steps with several devices.

    ``order`` lists operation rows by (device, API row), without unlinked operations; ``ops``
    are each row's slices of it; ``untimed_order`` and ``untimed`` are the same of `Trace.untimed`.
    ``calls`` are each row's slices of the API table.
    """

    step: IntColumn
    device: SmallColumn
    is_primary: BoolColumn
    is_split: BoolColumn
    calls: Slices
    order: IdColumn
    ops: Slices
    untimed_order: IdColumn
    untimed: Slices


def own(trace: Trace, calls: Slices, whole: BoolColumn) -> Owned:
    """Split steps, given by their calls (`calls_of`), by device and find what each owns.

    Those marked ``whole``, shape (steps,), are not split: some of their work may have run on any
    device.
    """
    devices = len(trace.devices)
    timed = _on_devices(trace.ops, calls, devices)
    untimed = _on_devices(trace.untimed, calls, devices)
    parts = []
    counted = np.zeros(calls.low.size, np.int64)
    for number, (ops, others) in enumerate(zip(timed[1], untimed[1], strict=True)):
        mine = np.flatnonzero((ops.count + others.count > 0) & ~whole)
        counted[mine] += 1
        device = np.full(mine.size, number, np.int32)
        slices = [ops.low[mine], ops.high[mine], others.low[mine], others.high[mine]]
        parts.append((mine, device, *slices))
    without = np.flatnonzero(counted == 0)
    none = np.zeros(without.size, np.int64)
    parts.append((without, np.full(without.size, -1, np.int32), none, none, none, none))
    step, device, *slices = (np.concatenate(column) for column in zip(*parts, strict=True))
    arranged = np.lexsort((device, step))
    step, device = step[arranged], device[arranged]
    ops, others = (Slices(*pair).take(arranged) for pair in (slices[:2], slices[2:]))
    most = np.lexsort((device, -(ops.count + others.count), step))
    is_primary = np.zeros(step.size, bool)
    is_primary[most[np.unique(step[most], return_index=True)[1]]] = True
    is_split = (counted > 1)[step]
    own_calls = calls.take(step)
    return Owned(step, device, is_primary, is_split, own_calls, timed[0], ops, untimed[0], others)


def _on_devices(ops: OpTable, calls: Slices, devices: int) -> tuple[IdColumn, list[Slices]]:
    """Linked operations by (device, API row), and those of each step on each device."""
    order, starts = _operations_by_device(ops, devices)
    api_row = ops.api_row[order]
    found = []
    for a, b in pairwise(starts):
        low = a + np.searchsorted(api_row[a:b], calls.low)
        found.append(Slices(low, a + np.searchsorted(api_row[a:b], calls.high)))
    return order, found


def _operations_by_device(ops: OpTable, devices: int) -> tuple[IdColumn, list[int]]:
    """Linked operation rows by (device, API row), and where each device's rows begin."""
    device, api_row = ops.device, ops.api_row
    if devices == 1 and api_row.size and int(api_row.min()) >= 0:
        order: IdColumn
        if (api_row[1:] >= api_row[:-1]).all():
            order = np.arange(api_row.size, dtype=np.int32)
        else:
            order = np.argsort(api_row, kind="stable")
        return order, [0, api_row.size]
    linked = np.flatnonzero(api_row >= 0)
    order = linked[np.lexsort((api_row[linked], device[linked]))]
    starts = np.searchsorted(device[order], np.arange(devices + 1))
    return order, starts.tolist()


def count_kind(trace: Trace, owned: Owned, kind: OpKind, *, timed: bool = False) -> IntColumn:
    """Operations of one kind that each row owns, or of these the ones whose time is known."""
    count = owned.ops.within(np.flatnonzero(trace.ops.kind[owned.order] == kind)).count
    if timed or owned.untimed_order.size == 0:
        return count
    more = np.flatnonzero(trace.untimed.kind[owned.untimed_order] == kind)
    return count + owned.untimed.within(more).count


def own_extent(trace: Trace, owned: Owned) -> tuple[IntColumn, IntColumn]:
    """Start of each row's first and end of its last operation; 0 for rows without any."""
    first, last = np.zeros(owned.step.size, np.int64), np.zeros(owned.step.size, np.int64)
    rows = np.flatnonzero(owned.ops.count > 0)
    if rows.size:
        slices = owned.ops.take(rows)
        edges = np.stack([slices.low, slices.high], axis=1).ravel()
        # A last edge at the very end would be out of range: pad by one.
        start = np.append(trace.ops.start_ns[owned.order], np.iinfo(np.int64).max)
        end = np.append(trace.ops.end_ns[owned.order], np.iinfo(np.int64).min)
        first[rows] = np.minimum.reduceat(start, edges)[::2]
        last[rows] = np.maximum.reduceat(end, edges)[::2]
    return first, last


def graph_tracing_of(graphs: int, hidden: int, nodes: int, spans: int) -> GraphTracing:
    """How the graphs of a step show in the trace (docs/definitions.md)."""
    if graphs == 0 and not spans:
        return "none"
    if hidden:
        return "missing"
    if nodes and spans:
        return "mixed"
    return "graph" if spans else "node"
