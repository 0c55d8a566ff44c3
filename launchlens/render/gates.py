"""A gate's result in a sentence: which limit, what was measured, where, why."""

from __future__ import annotations

from launchlens.records.limits import LimitResult
from launchlens.render.format import format_value, plain, signed


def describe_gate(result: LimitResult) -> str:
    """One line about a gate that failed, held, or cannot be judged."""
    word = {"held": "held", "failed": "FAILED", "unknown": "FAILED (unknown)"}[result.status]
    said = f"{word}: {plain(result.limit)} ({plain(result.where)})"
    if result.status != "unknown" and result.measured is not None:
        said += f": {_measured(result)}"
        if result.baseline is not None and result.value is not None:
            before = format_value(result.baseline, result.unit)
            said += f", from {before} to {format_value(result.value, result.unit)}"
    return f"{said}; {plain(result.reason, 300)}" if result.reason else said


def _measured(result: LimitResult) -> str:
    assert result.measured is not None
    if result.measure == "relative":
        return f"{'+' if result.measured > 0 else ''}{signed(100 * result.measured, '.1f')}%"
    if result.measure == "change":
        plus = "+" if result.measured > 0 else ""
        if result.unit == "fraction":
            return f"{plus}{signed(100 * result.measured, '.1f')} pp"
        return plus + format_value(result.measured, result.unit)
    return format_value(result.measured, result.unit)
