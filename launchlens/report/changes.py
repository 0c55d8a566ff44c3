"""How a change is said: "6.3× faster", "+11.7%", "−1425", percentage points of fractions.

The one place that says by how much something is faster, slower, more or less.
"""

from __future__ import annotations

from dataclasses import dataclass

from launchlens.records.metric import Bound
from launchlens.report.cells import Judged, Number
from launchlens.report.words import BOUND_SIGNS, MINUS, difference, plus

_WORTH_A_FACTOR = 1.5
"""Below this a speed-up is said in per cent: "+11.7%", not "1.1× slower"."""


@dataclass(frozen=True, slots=True)
class _Said:
    """A change in words. ``turned``: a larger number in it means a smaller figure (a speed-up)."""

    words: str = ""
    turned: bool = False

    def with_bound(self, bound: Bound | None) -> str:
        """The words, marked where the change is only a bound of the true one."""
        if bound and self.turned:
            bound = "lower" if bound == "upper" else "upper"
        return BOUND_SIGNS.get(bound, "") + self.words if self.words else ""


def faster(before: Number, after: Number) -> str:
    """How much faster or slower a time is than another; "" where there is no ratio.

    Factors from 1.5 on ("6.3× faster", "13× slower"), less than that in per cent ("+11.7%").
    """
    return _faster(before, after).words


def _faster(before: Number, after: Number) -> _Said:
    if before <= 0 or after <= 0:
        return _Said()
    factor = max(before / after, after / before)
    if factor < _WORTH_A_FACTOR:
        return _Said(percent(after / before - 1))
    if after < before:
        return _Said(f"{times(factor)} faster", turned=True)
    return _Said(f"{times(factor)} slower")


def times(factor: float) -> str:
    """A factor in two digits: "6.3×", "13×"."""
    return f"{factor:.1f}×" if factor < 9.95 else f"{factor:.0f}×"


def percent(relative: float) -> str:
    """A relative change in per cent; never −100% for what is left of something."""
    said = 100 * relative
    if said == -100:
        return f"{MINUS}100%"
    if 99.9 < abs(said) < 100:
        return f"{plus(said, '.2f')}%"
    return f"{plus(said, '.1f' if abs(said) < 1000 else '.0f')}%"


def change(judged: Judged) -> str:
    """A change against the baseline: counts absolute and %, times in %, idle in points.

    Of a time that is a speed (`Metric.speed`) the factor first: "6.3× faster (−84.2%)".
    """
    first, rest = _terms(judged)
    said = first.with_bound(judged.change_bound)
    return f"{said} ({rest.with_bound(judged.change_bound)})" if rest.words else said


def brief_change(judged: Judged) -> str:
    """A change in one term, for narrow cells: counts in %, idle in points, speeds as factor."""
    first, rest = _terms(judged)
    if judged.value.unit == "count" and rest.words:
        return rest.with_bound(judged.change_bound)
    return first.with_bound(judged.change_bound)


def _terms(judged: Judged) -> tuple[_Said, _Said]:
    """A change in two terms, the second empty where the first says all."""
    by, relative, unit = judged.change, judged.relative, judged.value.unit
    nothing = _Said()
    if by is None:
        return nothing, nothing
    if unit == "fraction":
        return _Said(difference(by, unit)), nothing
    if unit == "count":
        absolute = plus(by, ".0f" if float(by).is_integer() else ".1f")
        return _Said(absolute), _Said(percent(relative)) if by and relative is not None else nothing
    number = judged.value.number or 0
    if relative is None or min(number, number - by) < 0:
        # From nothing, or of a negative time (a tail), there is no ratio.
        return _Said(difference(by, unit)), nothing
    inexact = _Said(percent(relative))
    speed = _faster(number - by, number) if judged.speed else nothing
    return (speed, inexact) if speed.words not in ("", inexact.words) else (inexact, nothing)
