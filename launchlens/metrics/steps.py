"""Finding the steps of a trace among its NVTX ranges."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from launchlens.calls.step_calls import calls_of
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
    is_empty: bool = False
    """Its text says that it holds no request and no token."""
    all_threads: bool = False
    """It owns the calls of all threads of its process."""


def find_steps(trace: Trace, *, step: str | None = None, whole: bool = False) -> list[StepRange]:
    """The steps of a trace in start order.

    Patterns are tried most specific first; the first that matches any range of a process names
    that process's steps, so that an engine's inner scopes are not counted beside its steps. Of
    nested ranges that match, the innermost is the step; so are forward passes within a range that
    only holds them ("generate").

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


def without_empty(trace: Trace, ranges: Sequence[StepRange]) -> tuple[list[StepRange], int]:
    """The ranges that hold a step, and how many do not.

    A range without length, without requests and tokens, or without any CUDA call is no step.

    Raises:
        StepNotFoundError: none holds a step.
    """
    thread = np.array([r.thread for r in ranges], np.int64)
    start = np.array([r.start_ns for r in ranges], np.int64)
    end = np.array([r.end_ns for r in ranges], np.int64)
    idle = calls_of(trace.api, thread, start, end).count == 0
    if not trace.has_api:
        idle[:] = False  # nothing is known of calls
    empty = idle | (end <= start) | np.array([r.is_empty for r in ranges], bool)
    empty &= ~np.array([r.all_threads for r in ranges], bool)
    kept = [r for r, is_empty in zip(ranges, empty.tolist(), strict=True) if not is_empty]
    if ranges and not kept:
        raise StepNotFoundError(
            f"{trace.info.file}: {len(ranges)} ranges mark steps, but none of them holds a CUDA "
            f"call of its thread, the first being {_shortened(ranges[0].text)!r}.",
            hint="Read the trace as one window with --whole, or name other ranges with --step "
            "REGEX.",
        )
    return kept, len(ranges) - len(kept)


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
    outer = rows[wanted]
    inner, around = _inner(ranges, rows, outer, pattern)
    chosen = innermost(ranges, np.sort(np.concatenate([outer, inner])))
    matches |= {
        code: match
        for code in np.unique(ranges.text[inner]).tolist()
        if pattern.inner is not None and (match := pattern.inner.search(ranges.texts[code]))
    }

    def phase_of(row: int, match: re.Match[str]) -> Phase:
        if row in around:
            outside = matches[int(ranges.text[around[row]])]
            return pattern.inner_phase(outside) if pattern.inner_phase else "unknown"
        return pattern.phase(match)

    return [
        StepRange(
            int(ranges.start_ns[row]),
            int(ranges.end_ns[row]),
            int(ranges.process[row]),
            int(ranges.thread[row]),
            ranges.texts[code],
            ranges.domains[int(ranges.domain[row])],
            pattern.engine,
            phase_of(row, matches[code]),
            pattern.tokens(matches[code]),
            pattern.is_empty(matches[code]),
        )
        for row, code in zip(chosen.tolist(), ranges.text[chosen].tolist(), strict=True)
    ]


def _inner(
    ranges: RangeTable,
    rows: npt.NDArray[np.int64],
    outer: npt.NDArray[np.int64],
    pattern: StepPattern,
) -> tuple[npt.NDArray[np.int64], dict[int, int]]:
    """Forward passes within ranges that match a pattern, and the range around each."""
    none = np.empty(0, np.int64)
    if pattern.inner is None or outer.size == 0:
        return none, {}
    codes = [
        code
        for code in np.unique(ranges.text[rows]).tolist()
        if pattern.inner.search(ranges.texts[code])
    ]
    inner = rows[np.isin(ranges.text[rows], np.array(codes, np.int32))]
    around = _within(ranges, outer, inner)
    kept = around >= 0
    pairs = zip(inner[kept].tolist(), around[kept].tolist(), strict=True)
    return inner[kept], dict(pairs)


def _within(
    ranges: RangeTable, outer: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Of the ``outer`` ranges the one that lies closest around each of the rows, -1 without.

    Ranges on a thread are nested: the last to start before a row that has not ended.
    """
    found = np.full(rows.size, -1, np.int64)
    for thread in np.unique(ranges.thread[rows]).tolist():
        here = outer[ranges.thread[outer] == thread]
        mine = np.flatnonzero(ranges.thread[rows] == thread)
        events = sorted(
            [(int(ranges.start_ns[r]), 0, -int(ranges.end_ns[r]), int(r)) for r in here]
            + [(int(ranges.start_ns[rows[i]]), 1, 0, int(i)) for i in mine]
        )
        around: list[int] = []
        for start, is_inner, _, number in events:
            while around and ranges.end_ns[around[-1]] < start:
                around.pop()
            if not is_inner:
                around.append(number)
            elif around and ranges.end_ns[around[-1]] >= ranges.end_ns[rows[number]]:
                found[number] = around[-1]
    return found


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
        window = StepRange(start, end, index, busiest, text, "", "whole", "unknown", None)
        found.append(replace(window, all_threads=True))
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
        return " ".join((f"{trace.info.file} has no NVTX ranges at all.", *trace.info.warnings))
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
