"""Which API calls a step owns: those on its thread that start within its range.

With calls sorted by (thread, start) a step's calls are one slice of the table, so that whatever
is asked of them is a binary search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from launchlens.records.columns import ApiTable, BoolColumn, IntColumn, SmallColumn


@dataclass(frozen=True, slots=True)
class Slices:
    """Half-open index ranges ``[low, high)``, one for each row; shape (rows,)."""

    low: IntColumn
    high: IntColumn

    @property
    def count(self) -> IntColumn:
        """Length of each slice."""
        return self.high - self.low

    def expand(self) -> tuple[IntColumn, IntColumn]:
        """All indexes of all slices, and the row each belongs to; shapes (total,)."""
        count = self.count
        row = np.repeat(np.arange(count.size), count)
        index = np.arange(row.size) - np.repeat(np.cumsum(count) - count, count) + self.low[row]
        return index, row

    def take(self, rows: IntColumn) -> Slices:
        """The slices of some rows."""
        return Slices(self.low[rows], self.high[rows])

    def where(self, chosen: BoolColumn, others: Slices) -> Slices:
        """These slices for the chosen rows, and others for the rest."""
        return Slices(
            np.where(chosen, self.low, others.low), np.where(chosen, self.high, others.high)
        )

    def within(self, positions: IntColumn | SmallColumn) -> Slices:
        """The same slices in terms of ``positions``, an ascending subset of the indexes."""
        return Slices(np.searchsorted(positions, self.low), np.searchsorted(positions, self.high))


def calls_of_processes(api: ApiTable, process: IntColumn) -> Slices:
    """All calls of some processes, whichever threads made them; shape as ``process``."""
    low, high = np.zeros(process.size, np.int64), np.zeros(process.size, np.int64)
    for one in np.unique(process).tolist():
        rows = np.flatnonzero(api.process == one)  # neighbours: see ApiTable
        if rows.size:
            low[process == one], high[process == one] = rows[0], rows[-1] + 1
    return Slices(low, high)


def calls_of(api: ApiTable, thread: IntColumn, start_ns: IntColumn, end_ns: IntColumn) -> Slices:
    """The API calls of each step, by its thread and range; all shapes (steps,).

    A call that starts at the very end of the range belongs to it.
    """
    low, high = np.zeros(thread.size, np.int64), np.zeros(thread.size, np.int64)
    for t in np.unique(thread).tolist():
        first, last = np.searchsorted(api.thread, np.array([t, t + 1], api.thread.dtype))
        mine = thread == t
        starts = api.start_ns[first:last]
        low[mine] = first + np.searchsorted(starts, start_ns[mine], side="left")
        high[mine] = first + np.searchsorted(starts, end_ns[mine], side="right")
    return Slices(low, np.maximum(low, high))
