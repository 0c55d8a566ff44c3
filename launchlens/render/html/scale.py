"""How a chart's values become lengths: all it does to them is to divide by the largest."""

from __future__ import annotations

import math
from collections.abc import Iterable

from launchlens.report import words
from launchlens.report.cells import Value
from launchlens.report.pictures import Chart

#: What a plotted quantity is divided by, and its axis' words, by unit.
_AXIS = {
    "ns": (1e6, "milliseconds"),
    "fraction": (0.01, "per cent"),
    "count": (1.0, ""),
    "per_s": (1.0, "per second"),
    "bytes": (1.0, "bytes"),
}
_TICKS = 4


def unit_words(chart: Chart) -> str:
    """What the numbers of a chart's axis are."""
    return _AXIS[chart.unit][1]


def largest(values: Iterable[Value]) -> float:
    """The largest size among known values, and at least as much as any can be divided by."""
    sizes = (abs(v.number) for v in values if v.number is not None)
    return float(max(sizes, default=0) or 1)


def share(number: float, of: float) -> float:
    """A length in per cent, never negative."""
    return round(max(0.0, 100 * number / of), 3)


def ticks(most: float, chart: Chart) -> tuple[float, tuple[tuple[float, str], ...]]:
    """Where an axis from 0 ends that shows ``most``, and its ticks as (per cent, text)."""
    scale, _ = _AXIS[chart.unit]
    top = most / scale
    power = 10 ** math.floor(math.log10(top / _TICKS))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power * _TICKS >= top * 0.999)
    count = math.ceil(top / step * 0.999)
    end = step * count
    texts = [_tick(step * i) for i in range(count + 1)]
    return end * scale, tuple((round(100 * i / count, 3), t) for i, t in enumerate(texts))


def _tick(number: float) -> str:
    return words.signed(number, ".0f" if number >= 1000 else ".4g")
