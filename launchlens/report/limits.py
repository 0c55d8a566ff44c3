"""Limits and what came of them: which limit, what was measured, where, why."""

from __future__ import annotations

from launchlens.plural import counted
from launchlens.records.limits import LimitReport, LimitResult, TraceLimits
from launchlens.report.changes import percent
from launchlens.report.document import Document, Section, Text
from launchlens.report.words import difference, format_value, plain

_STATUS = {"held": "held", "failed": "FAILED", "unknown": "FAILED (unknown)"}


def limits_document(report: LimitReport, *, held_too: bool = False) -> Document:
    """How many limits are broken, then which; with ``held_too`` also those that hold."""
    lines: list[str] = []
    for trace in report.traces:
        results = [r for r in trace.results if held_too or not r.passed]
        lines += [_counted(trace), *(f"  {describe_limit(r)}" for r in results)]
    return Document(
        kind="limits",
        title=f"launchlens: limits of {report.budget}",
        sections=(Section("limits", "Limits", (Text(tuple(lines), "log"),)),),
        record=report,
    )


def _counted(trace: TraceLimits) -> str:
    broken = sum(not result.passed for result in trace.results)
    total = counted(len(trace.results), "limit")
    return f"{plain(trace.label)}: {f'{broken} of {total} broken' if broken else f'{total} held'}"


def describe_limit(result: LimitResult) -> str:
    """One line about a limit that failed, held, or cannot be judged."""
    said = f"{_STATUS[result.status]}: {plain(result.limit)} ({plain(result.where)})"
    if result.status != "unknown" and result.measured is not None:
        said += f": {_measured(result)}"
        if result.baseline is not None and result.value is not None:
            before = format_value(result.baseline, result.unit, result.baseline_bound)
            after = format_value(result.value, result.unit, result.value_bound)
            said += f", from {before} to {after}"
    return f"{said}; {plain(result.reason, 300)}" if result.reason else said


def _measured(result: LimitResult) -> str:
    assert result.measured is not None
    if result.measure == "relative":
        return percent(result.measured)
    if result.measure == "change":
        return difference(result.measured, result.unit)
    return format_value(result.measured, result.unit, result.value_bound)
