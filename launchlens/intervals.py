"""Mathematics on intervals ``[start_ns, end_ns)``. A leaf: NumPy only.

All functions take and return int64 arrays of nanoseconds; none loops over rows in Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Int = npt.NDArray[np.int64]

_BATCH = 400_000


def batches(sizes: Int) -> Iterator[tuple[int, int]]:
    """Ranges ``(first, last)`` of neighbours that hold about `_BATCH` together, to bound memory."""
    batch = np.cumsum(sizes) // _BATCH
    return pairwise([0, *(np.flatnonzero(np.diff(batch)) + 1).tolist(), batch.size])


def merge_intervals(start_ns: Int, end_ns: Int, *, is_sorted: bool = False) -> tuple[Int, Int]:
    """Union of intervals as sorted, disjoint, non-touching pieces.

    Empty intervals (``end <= start``) are dropped. Touching pieces are joined, so what lies
    between two pieces is never empty.

    With ``is_sorted`` the caller vouches that ``start_ns`` ascends.
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
        """Length of the cover before each instant; shape (n,) as ``t_ns``."""
        if self.start_ns.size == 0:
            return np.zeros(np.shape(t_ns), np.int64)
        piece = np.searchsorted(self.start_ns, t_ns, side="right") - 1
        inside = np.clip(piece, 0, None)
        partial = np.minimum(t_ns, self.end_ns[inside]) - self.start_ns[inside]
        covered = np.zeros(np.shape(t_ns), np.int64)
        np.copyto(covered, partial + self.before_ns[inside], where=piece >= 0)
        return covered

    def length_within(self, start_ns: Int, end_ns: Int) -> Int:
        """Length of the cover inside each window ``[start, end)``, never negative."""
        within: Int = np.maximum(self.length_before(end_ns) - self.length_before(start_ns), 0)
        return within


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
    begins = np.cumsum(count) - count
    following = np.arange(window.size) + np.repeat(first - begins, count)
    final = begins + count - 1
    if cover.start_ns.size:
        # Windows' own edges are put in below; clipping only keeps the look-up within bounds.
        gap_start = cover.end_ns[np.clip(following - 1, 0, cover.end_ns.size - 1)]
        gap_end = cover.start_ns[np.clip(following, 0, cover.start_ns.size - 1)]
    else:
        gap_start, gap_end = np.empty(window.size, np.int64), np.empty(window.size, np.int64)
    gap_start[begins], gap_end[final] = start_ns, end_ns
    following[final] = -1
    keep = gap_end > gap_start
    if keep.all():
        return Pieces(window, gap_start, gap_end, following)
    return Pieces(window[keep], gap_start[keep], gap_end[keep], following[keep])


def hosts_of(group: Int, start_ns: Int, end_ns: Int) -> Int:
    """For each interval the one of its group within which it starts; itself where there is none.

    Of intervals within one another the outermost is the host of all.

    Args:
        group: group of each interval, shape (n,), ascending.
        start_ns: starts, ascending within a group, shape (n,).
        end_ns: ends, shape (n,).

    Returns:
        Index of each interval's host, shape (n,).
    """
    if group.size == 0:
        return np.empty(0, np.int64)
    opens = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]]))
    count = np.diff(np.append(opens, group.size))
    base = start_ns[opens]
    span = np.maximum.reduceat(end_ns, opens) - base + 1
    # Groups are laid out one after the other, so that one running maximum serves them all.
    shift = np.repeat(np.cumsum(span) - span - base, count)
    reach = np.maximum.accumulate(end_ns + shift)
    inside = np.zeros(group.size, bool)
    inside[1:] = ((start_ns + shift)[1:] < reach[:-1]) & (group[1:] == group[:-1])
    same = (start_ns[1:] == start_ns[:-1]) & (group[1:] == group[:-1])
    inside[1:] |= same
    hosts: Int = np.maximum.accumulate(np.where(inside, -1, np.arange(group.size)))
    return hosts
