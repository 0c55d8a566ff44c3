"""What a reader must know before trusting a trace's figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from launchlens.metrics.measure import MeasuredSteps
from launchlens.records.columns import Trace
from launchlens.records.figures import Group, Step

_SHORTFALLS = (
    (
        "kernel",
        "kernel_launches",
        "events were dropped, or the recording ended first. Busy time is too low and idle too high "
        "there.",
    ),
    ("memcpy", "memcpy_calls", "they copied nothing, or events were dropped."),
    ("memset", "memset_calls", "they set nothing, or events were dropped."),
)
"""Kinds of call that leave a GPU row each, and what it means if some do not."""


def find_notes(trace: Trace, measured: MeasuredSteps, groups: Sequence[Group]) -> Iterable[str]:
    """What a reader must know before trusting the figures, in sentences."""
    steps = measured.steps
    for kind, calls, why in _SHORTFALLS:
        lost = [
            n
            for s in steps
            if s.graph_tracing == "none"
            and (rows := getattr(s, f"{kind}s")) is not None
            and (n := (getattr(s, calls) or 0) - rows) > 0
        ]
        if lost:
            what = calls.replace("_", " ")
            yield f"{sum(lost)} {what} in {len(lost)} steps have no {kind} row: {why}"
    for group in groups:
        if outlier := _first_step_stands_out(steps, group):
            yield outlier
        if group.engine == "whole" and (others := _other_threads(trace, group)):
            yield (
                f"process {group.pid}: {others} CUDA calls of threads other than the busiest are "
                "not in the counts of its window; their work counts as busy."
            )
    yield from _hidden_beside(trace, measured, groups)


def _hidden_beside(trace: Trace, measured: MeasuredSteps, groups: Sequence[Group]) -> Iterable[str]:
    """Graph launches without work in the trace, where other steps of the process have figures."""
    hidden = np.flatnonzero(measured.calls.hidden)
    known = {g.pid for g in groups if g.metrics["window_ns"].median is not None}
    for number, count in sorted(Counter(trace.api.process[hidden].tolist()).items()):
        pid = trace.processes[number].pid
        if pid in known:
            yield (
                f"process {pid}: {count} graph launches, in other steps or outside of them, show "
                "no work in the trace; a step that ran beside that work was busier than shown."
            )


def _other_threads(trace: Trace, group: Group) -> int:
    """CUDA calls of the process on other threads than the one with most calls."""
    numbers = [i for i, p in enumerate(trace.processes) if p.pid == group.pid]
    calls = np.isin(trace.api.process, numbers)
    if len(trace.threads) == 1 or not calls.any():
        return 0
    return int(calls.sum() - np.bincount(trace.api.thread[calls]).max())


def _first_step_stands_out(steps: Sequence[Step], group: Group) -> str | None:
    """A remark on a group whose first step that counts is far longer than the others."""
    key = (group.phase, group.pid, group.device)
    mine = [s for s in steps if (s.phase, s.pid, s.device) == key][group.dropped :]
    windows = [s.window_ns for s in mine if s.window_ns is not None]
    if group.metrics["window_ns"].unknown or len(windows) < 4:
        return None
    rest = float(np.median(windows[1:]))
    if windows[0] < 1.5 * rest:
        return None
    return (
        f"the first {group.phase} step took {windows[0] / rest:.1f} times the median of the "
        f"others; --skip {group.dropped + 1} leaves it out."
    )
