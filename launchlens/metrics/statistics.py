"""Medians, quantiles and the bootstrap interval of a median, for small and large samples."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from launchlens.calls.step_calls import Slices
from launchlens.records.columns import IntColumn
from launchlens.records.figures import Stat
from launchlens.records.metric import Unit

CONFIDENCE = 0.95
_NEGLIGIBLE = 1e-15
_Chances = npt.NDArray[np.float64]
_VALUE_MASK = (1 << 40) - 1  # 18 minutes in ns: a value and its group share one sort key


def median_interval(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The bootstrap interval of the median of ascending values, two or more.

    The bootstrap distribution of a median is known exactly (Efron 1979, "Bootstrap methods:
    another look at the jackknife", section 3), so that no resampling is needed, and the same data
    give the same interval always. Of an odd number of values the median is the m-th smallest of a
    resample, which is at most the k-th smallest value with probability P(Binomial(n, k/n) >= m).
    Of an even number it lies halfway between the two middle ones, and so do the ends of the
    interval between two values (see `_median_at_most`).
    """
    tail = (1 - CONFIDENCE) / 2
    if values.size % 2 == 0:
        return _quantile(values, tail), _quantile(values, 1 - tail)
    low, high = _middle_ranks(values.size)
    return float(values[low]), float(values[high])


@lru_cache(maxsize=256)
def _middle_ranks(n: int) -> tuple[int, int]:
    """Ranks (0-based) that bound the interval of an odd number of values."""
    from scipy.special import bdtrc  # scipy.stats takes half a second longer to import

    tail = (1 - CONFIDENCE) / 2
    reached = bdtrc(n // 2, n, np.arange(1, n + 1) / n)
    return int(np.searchsorted(reached, tail)), int(np.searchsorted(reached, 1 - tail))


def _quantile(values: npt.NDArray[np.float64], share: float) -> float:
    """Smallest median of resamples that at least this share of them do not exceed."""
    low, high = float(values[0]), float(values[-1])
    if _median_at_most(values, low) >= share:
        return low
    while low < (middle := (low + high) / 2) < high:
        if _median_at_most(values, middle) >= share:
            high = middle
        else:
            low = middle
    # A median is halfway between two values: the one nearest to where the bisection ended.
    partner = np.clip(np.searchsorted(values, 2 * high - values), 1, values.size - 1)
    halves = np.concatenate([values + values[partner], values + values[partner - 1]])
    return float(halves[np.argmin(np.abs(halves / 2 - high))]) / 2


def _median_at_most(values: npt.NDArray[np.float64], limit: float) -> float:
    """P(median of a resample <= limit) for an even number n = 2 m of ascending values.

    The m-th smallest of a resample is the i-th value and the next one beyond the j-th (j >= i)
    with probability C(n, m) ((i/n)**m - ((i-1)/n)**m) (1 - j/n)**m: m draws are at most the i-th
    value, not all of them at most the one before, and m beyond the j-th.
    """
    n, m = values.size, values.size // 2
    below, before, ways, first = _middle_chances(n)
    i = np.arange(first, int(np.searchsorted(values, limit, side="right")) + 1)
    if i.size == 0:
        return 0.0
    j = np.searchsorted(values, 2 * limit - values[i - 1], side="right")
    with np.errstate(divide="ignore"):
        beyond = m * np.log1p(-j / n)
    apart = np.exp(ways[i] + beyond) - np.exp(ways[i - 1] + beyond)
    return float((below[i] - before[i] - apart).sum())


@lru_cache(maxsize=64)
def _middle_chances(n: int) -> tuple[_Chances, _Chances, _Chances, int]:
    """For k of n = 2 m values: chances, and the first k whose chance matters.

    P(m-th smallest of a resample <= k-th), the same of k - 1, and the log of C(n, m) (k/n)**m;
    shape (n + 1,) each.
    """
    from scipy.special import bdtrc, gammaln

    m = n // 2
    k = np.arange(n + 1)
    reached = bdtrc(m - 1, n, k / n)
    with np.errstate(divide="ignore"):
        ways = gammaln(n + 1) - 2 * gammaln(m + 1) + m * np.log(k / n)
    first = max(1, int(np.searchsorted(reached, _NEGLIGIBLE)))
    return reached, np.concatenate([[0.0], reached[:-1]]), ways, first


def few_interval(values: Sequence[float]) -> tuple[int, int]:
    """95% interval of a few times' centre, in whole ns: Student's t about their mean.

    The range of two or three values is no 95% interval; this one is as wide as they are few. It
    is widened to hold their median, if that lies outside. It takes two values or more.
    """
    from scipy.special import stdtrit

    n = len(values)
    mean, middle = statistics.fmean(values), statistics.median(values)
    quantile = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2))
    half = quantile * statistics.stdev(values) / math.sqrt(n)
    return max(0, math.floor(min(mean - half, middle))), math.ceil(max(mean + half, middle))


def pool_processes(by_process: Sequence[Sequence[int]]) -> tuple[Stat, tuple[int, ...]]:
    """Times of steps in one process or several, as one figure.

    Steps of one process are alike in what processes differ in, so that of several processes each
    one's median counts once: median and interval (Student's t: they are few) are theirs, while
    ``n`` and the quantiles stay those of all steps. Returns the figure, and the median of each
    process where there are several; all in ns.
    """
    steps = describe([ns for samples in by_process for ns in samples], "ns")
    if len(by_process) == 1:
        return steps, ()
    medians = tuple(round(statistics.median(samples)) for samples in by_process)
    low, high = few_interval(medians)
    middle = round(statistics.median(medians))
    return replace(steps, median=middle, ci_low=low, ci_high=high), medians


def describe(values: Sequence[float | int | None], unit: Unit) -> Stat:
    """Summary of one figure over steps, None where unknown.

    Quantiles interpolate linearly between order statistics (NumPy's default). "ns" and "bytes" are
    rounded to whole ones, "count" keeps whole numbers whole.
    """
    known = np.array([v for v in values if v is not None], np.float64)
    unknown = len(values) - known.size
    if known.size == 0 or unknown:
        return Stat(None, None, None, None, None, None, int(known.size), unknown)
    known.sort()
    p10, p50, p90, p99 = np.quantile(known, [0.1, 0.5, 0.9, 0.99]).tolist()
    low = high = None
    if known.size >= 2:
        low, high = median_interval(known)

    def shaped(value: float | None) -> float | int | None:
        if value is None:
            return None
        if unit in ("ns", "bytes") or (unit == "count" and float(value).is_integer()):
            return round(value)
        return value

    p10, p50, p90, p99, low, high = map(shaped, (p10, p50, p90, p99, low, high))
    return Stat(p50, p10, p90, p99, low, high, int(known.size))


def segment_medians(values: IntColumn, slices: Slices) -> list[int | None]:
    """Median of ``values[low:high]`` for each slice, rounded; None for empty slices."""
    index, row = slices.expand()
    if index.size == 0:
        return [None] * slices.low.size
    key = (row << 40) | np.clip(values[index], 0, _VALUE_MASK)
    del index, row
    key.sort()
    middle, count = _middles(key, slices.count).tolist(), slices.count.tolist()
    return [m if n else None for m, n in zip(middle, count, strict=True)]


def grouped_medians(
    chunks: Iterable[tuple[npt.NDArray[np.signedinteger], IntColumn]], rows: int, groups: int
) -> tuple[IntColumn, IntColumn, IntColumn]:
    """Count, sum and median of values for each code; shapes (groups,).

    Chunks are codes 0..groups-1 and the values they group, ``rows`` of them in all.
    """
    count, total = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    key = np.empty(rows, np.int64)
    at = 0
    for code, values in chunks:
        count += np.bincount(code, minlength=groups)
        total += np.bincount(code, values, groups).astype(np.int64)
        key[at : at + code.size] = (code.astype(np.int64) << 40) | np.clip(values, 0, _VALUE_MASK)
        at += code.size
    key.sort()
    return count, total, _middles(key, count) if rows else np.zeros(groups, np.int64)


def _middles(key: IntColumn, count: IntColumn) -> IntColumn:
    """Median of each group, rounded down; ``key`` holds the sorted values, group by group."""
    begin = np.cumsum(count) - count
    low, high = (key[np.clip(begin + n // 2, 0, key.size - 1)] for n in (count - 1, count))
    middle: IntColumn = ((low & _VALUE_MASK) + (high & _VALUE_MASK)) // 2
    return middle
