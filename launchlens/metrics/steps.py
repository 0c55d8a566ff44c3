"""Finding the steps of a trace among its NVTX ranges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from launchlens.errors import StepNotFoundError
from launchlens.metrics.engines import StepPattern, patterns, user_pattern
from launchlens.records.columns import RangeTable, Trace
from launchlens.records.figures import Phase
from launchlens.records.recorder import Need

_SHOWN_RANGES = 10


@dataclass(frozen=True, slots=True)
class StepRange:
    """One step's range on its thread, with what its text says."""

    start_ns: int
    end_ns: int
    process: int
    thread: int
    text: str
    domain: str
    engine: str
    phase: Phase
    tokens: int | None


def find_steps(trace: Trace, *, step: str | None = None, whole: bool = False) -> list[StepRange]:
    """The steps of a trace in start order.

    Patterns are tried most specific first; the first that matches any range of a process names
    that process's steps, so that an engine's inner scopes are not counted beside its steps. Of
    nested ranges that match, the innermost is the step.

    Args:
        trace: the trace.
        step: a regular expression of the user's, instead of the known patterns.
        whole: read each process as one window, from first CUDA call to last GPU operation.

    Raises:
        StepNotFoundError: no range matches; the message names the ranges there are.
        UsageError: ``step`` is no regular expression.
    """
    if whole:
        return _whole_windows(trace)
    tried: Sequence[StepPattern] = (user_pattern(step),) if step is not None else patterns()
    found: list[StepRange] = []
    for process in np.unique(trace.ranges.process).tolist():
        rows = np.flatnonzero(trace.ranges.process == process)
        found += next(filter(None, (_matching(trace, rows, pattern) for pattern in tried)), [])
    if not found:
        raise StepNotFoundError(_nothing_found(trace, step), hint=_how_to_name(trace))
    return sorted(found, key=lambda s: (s.start_ns, s.end_ns))


def _matching(trace: Trace, rows: npt.NDArray[np.int64], pattern: StepPattern) -> list[StepRange]:
    ranges = trace.ranges
    matches = {
        code: match
        for code in np.unique(ranges.text[rows]).tolist()
        if (match := pattern.regex.search(ranges.texts[code]))
    }
    wanted = np.isin(ranges.text[rows], np.array(list(matches), np.int32))
    if pattern.domain is not None:
        wanted &= np.array([d == pattern.domain for d in ranges.domains])[ranges.domain[rows]]
    chosen = innermost(ranges, rows[wanted])
    return [
        StepRange(
            int(ranges.start_ns[row]),
            int(ranges.end_ns[row]),
            int(ranges.process[row]),
            int(ranges.thread[row]),
            ranges.texts[code],
            ranges.domains[int(ranges.domain[row])],
            pattern.engine,
            pattern.phase(matches[code]),
            pattern.tokens(matches[code]),
        )
        for row, code in zip(chosen.tolist(), ranges.text[chosen].tolist(), strict=True)
    ]


def innermost(ranges: RangeTable, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Of these ranges, those that contain none of the others on the same thread.

    Of two ranges with the same start and end, the later row (the inner one) stays. Ranges that
    overlap without one containing the other both stay.
    """
    if rows.size == 0:
        return rows
    start, end = ranges.start_ns[rows], ranges.end_ns[rows]
    order = np.lexsort((-end, start, ranges.thread[rows]))
    rows, start, end = rows[order], start[order], end[order]
    thread = ranges.thread[rows]
    # In this order anything contained comes later and starts before the outer range's end; the
    # smallest end among the later rows of the thread that start inside tells whether one is.
    contains = np.zeros(rows.size, bool)
    for t in np.unique(thread).tolist():
        at = np.flatnonzero(thread == t)
        smallest_end_after = np.minimum.accumulate(end[at][::-1])[::-1]
        contains[at[:-1]] = smallest_end_after[1:] <= end[at[:-1]]
    return np.sort(rows[~contains])


def _whole_windows(trace: Trace) -> list[StepRange]:
    api, ops = trace.api, trace.ops
    found = []
    for index, process in enumerate(trace.processes):
        calls = np.flatnonzero(api.process == index)
        if calls.size == 0:
            continue
        start, last_call = int(api.start_ns[calls].min()), int(api.end_ns[calls].max())
        end = int(ops.end_ns[ops.process == index].max(initial=last_call))
        busiest = int(np.argmax(np.bincount(api.thread[calls])))
        text = f"whole trace of process {process.pid}"
        found.append(StepRange(start, end, index, busiest, text, "", "whole", "unknown", None))
    if not found:
        raise StepNotFoundError(
            f"{trace.info.file} holds no CUDA API calls, so there is no window to read.",
            hint=trace.recorder.advise(Need.EVENTS),
        )
    return found


def _nothing_found(trace: Trace, step: str | None) -> str:
    ranges = trace.ranges
    what = f"no range matches --step {step!r}" if step else "no NVTX range marks a forward step"
    if ranges.start_ns.size == 0:
        return f"{trace.info.file} has no NVTX ranges at all."
    counts = Counter(ranges.text.tolist()).most_common(_SHOWN_RANGES)
    listed = ", ".join(f"{_shortened(ranges.texts[code])!r} ×{n}" for code, n in counts)
    return f"{trace.info.file}: {what}. Its most frequent ranges: {listed}."


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else text[:79] + "…"


def _how_to_name(trace: Trace) -> str:
    if trace.ranges.start_ns.size == 0:
        remedy = trace.recorder.remedies.get(Need.RANGES)
        return "Read it as one window with --whole" + (f", or {remedy}." if remedy else ".")
    return "Name the step with --step REGEX, or read the trace as one window with --whole."
