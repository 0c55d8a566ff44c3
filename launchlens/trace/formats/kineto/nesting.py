"""Which event lies within which, for events of threads that nest in time."""

from __future__ import annotations

import numpy as np

from launchlens.records.columns import IntColumn, SmallColumn


def parents_of(thread: SmallColumn, start_ns: IntColumn, end_ns: IntColumn) -> IntColumn:
    """The innermost event of its thread around each event, -1 for none; shape (events,).

    Args:
        thread: ascending.
        start_ns: ascending within a thread; the outer of two that start together comes first.
        end_ns: ends; a child ends no later than its parent.
    """
    parent = np.full(start_ns.size, -1, np.int64)
    for one in np.unique(thread).tolist():
        low, high = np.searchsorted(thread, np.array([one, one + 1], thread.dtype))
        own = _parents(start_ns[low:high], end_ns[low:high])
        parent[low:high] = np.where(own >= 0, own + low, -1)
    return parent


def _parents(start: IntColumn, end: IntColumn) -> IntColumn:
    """The same within one thread.

    Of events that nest, an event's depth is how many began before it less how many of those have
    ended; its parent is the last event before it that is one level up.
    """
    count = start.size
    ended = np.searchsorted(np.sort(end), start, side="right")
    # Events without length that start here have "ended" too, themselves among them.
    empty = np.flatnonzero(end == start)
    not_before = np.searchsorted(start[empty], start, side="right")
    not_before -= np.searchsorted(empty, np.arange(count), side="left")
    depth = np.arange(count) - (ended - np.maximum(not_before, 0))
    parent = np.full(count, -1, np.int64)
    by_depth = np.argsort(depth, kind="stable")
    levels, begins = np.unique(depth[by_depth], return_index=True)
    ends = np.append(begins[1:], count)
    above: IntColumn | None = None
    for level, begin, stop in zip(levels.tolist(), begins.tolist(), ends.tolist(), strict=True):
        rows = by_depth[begin:stop]
        if above is not None and level > levels[0]:
            at = np.searchsorted(above, rows) - 1
            found = np.where(at >= 0, above[np.maximum(at, 0)], -1)
            around = (found >= 0) & (end[np.maximum(found, 0)] >= end[rows])
            parent[rows] = np.where(around, found, -1)
        above = rows
    return parent
