"""Mathematics on intervals ``[start_ns, end_ns)``. A leaf: NumPy only.

All functions take and return int64 arrays of nanoseconds; none loops over rows in Python.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Int = npt.NDArray[np.int64]


def merge_intervals(start_ns: Int, end_ns: Int, *, is_sorted: bool = False) -> tuple[Int, Int]:
    """Union of intervals as sorted, disjoint, non-touching pieces.

    Empty intervals (``end <= start``) are dropped. Touching pieces are joined, so what lies
    between two pieces is never empty.

    Args:
        start_ns: starts, shape (n,).
        end_ns: ends, shape (n,).
        is_sorted: the caller vouches that ``start_ns`` ascends.

    Returns:
        Starts and ends of the pieces, each shape (m,), m <= n.
    """
    keep = end_ns > start_ns
    if not keep.all():
        start_ns, end_ns = start_ns[keep], end_ns[keep]
    if start_ns.size == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    if not is_sorted:
        order = np.argsort(start_ns, kind="stable")
        start_ns, end_ns = start_ns[order], end_ns[order]
    reach = np.maximum.accumulate(end_ns)
    opens = np.empty(start_ns.size, bool)
    opens[0] = True
    np.greater(start_ns[1:], reach[:-1], out=opens[1:])
    first = np.flatnonzero(opens)
    last = np.append(first[1:] - 1, start_ns.size - 1)
    return start_ns[first], reach[last]


@dataclass(frozen=True, slots=True)
class Cover:
    """A union of intervals that answers "how much of it lies before t?" quickly.

    Attributes:
        start_ns: starts of the disjoint pieces, ascending, shape (m,).
        end_ns: ends of the pieces, shape (m,).
        before_ns: total length of the pieces before each piece, shape (m + 1,).
    """

    start_ns: Int
    end_ns: Int
    before_ns: Int

    @classmethod
    def of(cls, start_ns: Int, end_ns: Int, *, is_sorted: bool = False) -> Cover:
        """The cover of any intervals, overlapping or not (see `merge_intervals`)."""
        start, end = merge_intervals(start_ns, end_ns, is_sorted=is_sorted)
        before = np.zeros(start.size + 1, np.int64)
        np.cumsum(end - start, out=before[1:])
        return cls(start, end, before)

    def length_before(self, t_ns: Int) -> Int:
        """Length of the cover before each instant, shape of ``t_ns``."""
        if self.start_ns.size == 0:
            return np.zeros(np.shape(t_ns), np.int64)
        piece = np.searchsorted(self.start_ns, t_ns, side="right") - 1
        inside = np.clip(piece, 0, None)
        partial = np.minimum(t_ns, self.end_ns[inside]) - self.start_ns[inside]
        covered: Int = np.where(piece >= 0, self.before_ns[inside] + partial, 0)
        return covered

    def length_within(self, start_ns: Int, end_ns: Int) -> Int:
        """Length of the cover inside each window ``[start, end)``, never negative."""
        return np.maximum(self.length_before(end_ns) - self.length_before(start_ns), 0)


@dataclass(frozen=True, slots=True)
class Pieces:
    """Maximal uncovered pieces of many windows.

    Attributes:
        window: index of the window each piece lies in, shape (k,).
        start_ns: starts, clipped to the window, shape (k,).
        end_ns: ends, clipped to the window, shape (k,).
        next_piece: index of the cover piece that ends the gap, or -1 where the window ends
            first (nothing more on the device in this window), shape (k,).
    """

    window: Int
    start_ns: Int
    end_ns: Int
    next_piece: Int


def uncovered_pieces(cover: Cover, start_ns: Int, end_ns: Int) -> Pieces:
    """What each window ``[start, end)`` has that the cover has not; pieces in time order."""
    first = np.searchsorted(cover.end_ns, start_ns, side="right")
    last = np.searchsorted(cover.start_ns, end_ns, side="left")
    # Cover pieces first..last-1 touch the window: one gap before each, and one after the last.
    count = np.maximum(last - first, 0) + 1
    window = np.repeat(np.arange(start_ns.size), count)
    offset = np.arange(window.size) - np.repeat(np.cumsum(count) - count, count)
    following = first[window] + offset
    is_final = offset == count[window] - 1
    padded_end = np.append(cover.end_ns, np.int64(0))
    padded_start = np.append(cover.start_ns, np.int64(0))
    gap_start = np.where(offset == 0, start_ns[window], padded_end[following - 1])
    gap_end = np.where(is_final, end_ns[window], padded_start[following])
    gap_start = np.maximum(gap_start, start_ns[window])
    gap_end = np.minimum(gap_end, end_ns[window])
    keep = gap_end > gap_start
    next_piece = np.where(is_final, -1, following)
    return Pieces(window[keep], gap_start[keep], gap_end[keep], next_piece[keep])
