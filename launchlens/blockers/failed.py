"""Captures that failed while the trace was recorded, told by what calls returned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from launchlens.blockers.confirm import rule_told_by
from launchlens.blockers.rules import rules
from launchlens.calls import base_name, call_kind
from launchlens.capture_errors import CAPTURE_CODES, INVALIDATED, error_of_code
from launchlens.plural import counted
from launchlens.records.columns import Trace
from launchlens.records.figures import Finding


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A call that returned an error of capturing, such as 900."""

    name: str
    """Base name of the API function."""
    code: int
    count: int


def failed_captures(trace: Trace) -> list[FailedCall]:
    """Calls at which captures failed, the earliest first.

    Later calls of a capture that failed do not count, unless nothing else tells of it.
    """
    api = trace.api
    if api.result is None:
        return []
    rows = np.flatnonzero((api.result >= CAPTURE_CODES[0]) & (api.result <= CAPTURE_CODES[-1]))
    causes = rows[api.result[rows] != INVALIDATED]
    rows = causes if causes.size else rows
    found: dict[tuple[str, int], int] = {}
    for row in rows[np.argsort(api.start_ns[rows], kind="stable")].tolist():
        key = base_name(api.names[int(api.name[row])]), int(api.result[row])
        found[key] = found.get(key, 0) + 1
    return [FailedCall(name, code, count) for (name, code), count in found.items()]


def find_failed(trace: Trace) -> Iterator[Finding]:
    """What stopped captures in the trace, confirmed by that."""
    for failed in failed_captures(trace):
        error = error_of_code(failed.code)
        kind = call_kind(failed.name)
        rule = next((r for r in rules() if kind in r.fails_as), None) or rule_told_by(error)
        times = "once" if failed.count == 1 else counted(failed.count, "time")
        yield Finding(
            rule=rule.id if rule else "unknown",
            confidence="confirmed",
            title=f"a capture failed at {failed.name}: {error.title}",
            count_per_step=1.0,
            stable=True,
            bytes=None,
            kinds=failed.name,
            source=None,
            stack=(),
            host_ns=None,
            idle_ns=None,
            position=None,
            remedy=rule.remedy if rule else error.remedy,
            note=f"{failed.name} returned {failed.code} {times} in this trace.",
        )
