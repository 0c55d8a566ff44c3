"""Quantiles, medians and the bootstrap interval, beside sums done another way."""

from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from launchlens.metrics.statistics import (
    describe,
    grouped_medians,
    median_interval,
    pool_processes,
    segment_medians,
)
from launchlens.metrics.step_ops import Slices


def interval_of_all_resamples(values):
    """The 2.5% and 97.5% of the medians of every possible resample."""
    medians = np.sort([statistics.median(r) for r in itertools.product(values, repeat=len(values))])
    return tuple(medians[math.ceil(share * medians.size) - 1] for share in (0.025, 0.975))


SAMPLES = {
    2: [(3.0, 11.5), (4.0, 4.0)],
    3: [(1.0, 2.5, 9.0)],
    4: [(1.0, 2.0, 4.5, 20.0), (0.0, 0.0, 7.0, 7.0)],
    5: [(1.0, 2.0, 4.5, 4.5, 20.0)],
    6: [(0.5, 1.0, 1.5, 6.0, 6.5, 40.0), (1.0, 1.0, 1.0, 2.0, 2.0, 3.0)],
    7: [(1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0)],
}


@pytest.mark.parametrize("values", [v for many in SAMPLES.values() for v in many], ids=str)
def test_the_interval_is_that_of_all_resamples(values):
    """Every one of the n**n resamples, so nothing is left to chance; of even samples too."""
    low, high = median_interval(np.array(values))
    assert (low, high) == interval_of_all_resamples(values)


@pytest.mark.parametrize("n", [20, 21, 50, 101])
def test_interval_of_a_larger_sample_agrees_with_a_simulation(n):
    values = np.arange(n) ** 1.5
    resamples = np.random.default_rng(7).choice(values, (40_000, n))
    medians = np.median(resamples, axis=1)
    step = float(np.diff(values).max())
    low, high = median_interval(values)
    assert abs(low - np.quantile(medians, 0.025)) <= step
    assert abs(high - np.quantile(medians, 0.975)) <= step


def reaches(m, n, k, share):
    """Whether P(Binomial(n, k/n) >= m) is at least a share, in whole numbers: nothing rounds."""
    chance = sum(math.comb(n, j) * k**j * (n - k) ** (n - j) for j in range(m, n + 1))
    return chance * 1000 >= share * n**n


def test_ends_of_odd_samples_are_those_of_exact_binomial_tails():
    for n in range(3, 61, 2):
        low = next(k for k in range(1, n + 1) if reaches((n + 1) // 2, n, k, 25))
        high = next(k for k in range(1, n + 1) if reaches(n // 2 + 1, n, k, 975))
        assert median_interval(np.arange(1.0, n + 1)) == (low, high), n


# Ranks that another program gave, which summed the terms of the tails one by one.
@pytest.mark.parametrize(("n", "low"), [(99, 39), (499, 227), (9999, 4901)])
def test_ends_of_large_samples(n, low):
    assert median_interval(np.arange(float(n))) == (low, n - 1 - low)


@given(st.integers(2, 1500))
def test_interval_lies_around_the_middle_and_within_the_sample(n):
    low, high = median_interval(np.arange(float(n)))
    assert 0 <= low <= (n - 1) / 2 <= high <= n - 1
    assert low + high == n - 1, "the two sides mirror each other"
    # One value more or less moves an end by a place or so: even samples are no wider than odd.
    around = [median_interval(np.arange(float(m))) for m in (max(n - 1, 2), n + 1)]
    assert high - low <= max(b - a for a, b in around) + 1


def test_describe_by_hand():
    stat = describe([40, 10, 30, 20, 50], "ns")
    assert (stat.median, stat.p10, stat.p90, stat.p99) == (30, 14, 46, 50)
    assert (stat.ci_low, stat.ci_high, stat.n, stat.unknown) == (10, 50, 5, 0)


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=60))
def test_median_and_quantiles_agree_with_the_standard_library(values):
    stat = describe(values, "fraction")
    assert stat.median == pytest.approx(statistics.median(values))
    if len(values) > 1:
        tenths = statistics.quantiles(values, n=10, method="inclusive")
        hundredths = statistics.quantiles(values, n=100, method="inclusive")
        assert stat.p10 == pytest.approx(tenths[0], rel=1e-9, abs=1e-3)
        assert stat.p90 == pytest.approx(tenths[8], rel=1e-9, abs=1e-3)
        assert stat.p99 == pytest.approx(hundredths[98], rel=1e-9, abs=1e-3)
        assert stat.ci_low <= stat.median <= stat.ci_high


def test_counts_stay_whole_and_times_are_rounded():
    assert describe([1, 2], "count").median == 1.5
    assert isinstance(describe([1, 3], "count").median, int)
    assert describe([1, 2, 2, 3], "ns").p10 == 1
    assert isinstance(describe([0.5, 0.25], "fraction").median, float)


def test_one_step_has_no_interval():
    stat = describe([7], "ns")
    assert (stat.median, stat.ci_low, stat.ci_high, stat.n) == (7, None, None, 1)


@pytest.mark.parametrize("values", [[None], [1, None, 3], []])
def test_any_unknown_step_makes_the_figure_unknown(values):
    stat = describe(values, "ns")
    assert (stat.median, stat.p10, stat.ci_low) == (None, None, None)
    assert stat.unknown == values.count(None)
    assert stat.n == len(values) - values.count(None)


@given(st.lists(st.lists(st.integers(0, 10**9), max_size=9), min_size=1, max_size=6))
def test_segment_medians_agree_with_the_standard_library(segments):
    values = np.array([v for s in segments for v in s], np.int64)
    edges = np.cumsum([0, *(len(s) for s in segments)])
    found = segment_medians(values, Slices(edges[:-1], edges[1:]))
    assert found == [int(statistics.median(s)) if s else None for s in segments]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 10**9)), max_size=40))
def test_grouped_medians_agree_with_the_standard_library(pairs):
    code = np.array([c for c, _ in pairs], np.int32)
    values = np.array([v for _, v in pairs], np.int64)
    half = len(pairs) // 2
    chunks = [(code[:half], values[:half]), (code[half:], values[half:])]
    count, total, median = grouped_medians(chunks, len(pairs), 5)
    for group in range(5):
        mine = [v for c, v in pairs if c == group]
        assert (count[group], total[group]) == (len(mine), sum(mine))
        if mine:
            assert median[group] == int(statistics.median(mine))


def test_processes_are_pooled_by_their_medians():
    stat, medians = pool_processes([[10, 20, 30], [40, 40, 40], [60, 61, 62]])
    assert medians == (20, 40, 61)
    assert (stat.median, stat.n) == (40, 9)
    # Mean 40.33, standard deviation 20.50; t for two degrees of freedom is 4.303 (NIST/SEMATECH
    # e-Handbook, 1.3.6.7.2): 50.94 to either side, but no time is negative.
    assert (stat.ci_low, stat.ci_high) == (0, 92)
    alone, none = pool_processes([[10, 20, 30]])
    assert (alone.median, none) == (20, ())
