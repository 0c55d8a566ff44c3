"""Interval maths: hand-drawn rows, and sets of integers as a second opinion."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from launchlens.intervals import Cover, merge_intervals, uncovered_pieces


def ints(*values):
    return np.array(values, np.int64)


def split(pairs):
    return ints(*(a for a, _ in pairs)), ints(*(b for _, b in pairs))


def merged(*pairs):
    start, end = merge_intervals(*split(pairs))
    return list(zip(start.tolist(), end.tolist(), strict=True))


@pytest.mark.parametrize(
    ("rows", "union"),
    [
        ([], []),
        ([(3, 7)], [(3, 7)]),
        ([(3, 7), (1, 2)], [(1, 2), (3, 7)]),  # in any order
        ([(1, 5), (3, 7)], [(1, 7)]),  # overlapping
        ([(1, 3), (3, 5)], [(1, 5)]),  # touching: nothing lies between
        ([(1, 9), (2, 3), (4, 5), (10, 11)], [(1, 9), (10, 11)]),  # a long one covers others
        ([(1, 9), (2, 3), (8, 12)], [(1, 12)]),  # reach counts, not the last end
        ([(4, 4), (6, 5)], []),  # empty and reversed rows
        ([(1, 2), (1, 2)], [(1, 2)]),
        ([(-9, -4), (-5, 1)], [(-9, 1)]),  # real traces have negative times
    ],
)
def test_union_of_hand_drawn_rows(rows, union):
    assert merged(*rows) == union


@pytest.mark.parametrize(
    ("window", "gaps"),
    [
        ((0, 20), [(0, 2, 0), (5, 8, 1), (10, 20, -1)]),
        ((2, 10), [(5, 8, 1)]),
        ((3, 9), [(5, 8, 1)]),
        ((6, 7), [(6, 7, -1)]),  # inside a gap: nothing more in the window
        ((5, 8), [(5, 8, -1)]),
        ((3, 4), []),  # inside a piece
        ((4, 4), []),  # empty
        ((10, 12), [(10, 12, -1)]),
        ((-5, 1), [(-5, 1, -1)]),
    ],
)
def test_gaps_of_a_window_and_what_ends_them(window, gaps):
    cover = Cover.of(*split([(2, 5), (8, 10)]))
    pieces = uncovered_pieces(cover, ints(window[0]), ints(window[1]))
    columns = (pieces.start_ns, pieces.end_ns, pieces.next_piece)
    assert list(zip(*(c.tolist() for c in columns), strict=True)) == gaps


def test_an_empty_cover_leaves_the_whole_window():
    cover = Cover.of(ints(), ints())
    assert cover.length_within(ints(0, 5), ints(9, 5)).tolist() == [0, 0]
    pieces = uncovered_pieces(cover, ints(0, 5), ints(9, 5))
    assert (pieces.window.tolist(), pieces.next_piece.tolist()) == ([0], [-1])


spans = st.lists(st.tuples(st.integers(-20, 40), st.integers(0, 15)), max_size=12).map(
    lambda rows: [(a, a + length) for a, length in rows]
)
windows = st.lists(st.tuples(st.integers(-25, 60), st.integers(0, 40)), min_size=1, max_size=4).map(
    lambda rows: [(a, a + length) for a, length in rows]
)


def instants(rows):
    return {t for a, b in rows for t in range(a, b)}


@given(spans)
def test_union_holds_the_same_instants_in_disjoint_pieces(rows):
    pieces = merged(*rows)
    assert instants(pieces) == instants(rows)
    assert sum(b - a for a, b in pieces) == len(instants(rows))
    assert all(left[1] < right[0] for left, right in pairwise(pieces))


@given(spans, windows)
def test_length_within_counts_the_instants(rows, where):
    begin, finish = split(where)
    lengths = Cover.of(*split(rows)).length_within(begin, finish)
    assert lengths.tolist() == [len(instants(rows) & set(range(a, b))) for a, b in where]


@given(spans, windows)
def test_gaps_are_exactly_what_is_not_covered(rows, where):
    pieces = uncovered_pieces(Cover.of(*split(rows)), *split(where))
    found = {}
    for w, a, b in zip(
        pieces.window.tolist(), pieces.start_ns.tolist(), pieces.end_ns.tolist(), strict=True
    ):
        assert a < b
        assert not found.setdefault(w, set()) & set(range(a, b))
        found[w] |= set(range(a, b))
    for number, (a, b) in enumerate(where):
        assert found.get(number, set()) == set(range(a, b)) - instants(rows)
