"""How the NVTX ranges inside steps lie within one another, and which is innermost when."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from launchlens.metrics.measure import MeasuredSteps
from launchlens.records.columns import IntColumn, Trace
from launchlens.records.figures import Step

_LAYER_MARKER = re.compile(r"^\{'Module': '(?P<module>[^']+)'")
"""Layer markers of vLLM and SGLang are a dict in Python's notation."""


@dataclass(slots=True)
class Nested:
    """Ranges of all steps, and the stretches in which each is the innermost one.

    ``row`` (of the step), ``parent`` (-1: the step itself) and ``name`` (domain, text) are of the
    ranges; ``stretch`` is (range, start, end).
    """

    row: list[int] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    name: list[tuple[str, str]] = field(default_factory=list)
    start: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    stretch: list[tuple[int, int, int]] = field(default_factory=list)


def threads_of(trace: Trace, steps: Sequence[Step]) -> IntColumn:
    """Index of each step's thread in `Trace.threads`; shape (steps,)."""
    known = {
        (trace.processes[thread.process].pid, thread.tid): number
        for number, thread in enumerate(trace.threads)
    }
    return np.array([known[step.pid, step.tid] for step in steps], np.int64)


def nest_ranges(trace: Trace, measured: MeasuredSteps) -> Nested:
    """The ranges within steps, on their threads; those of the recorder itself are left out."""
    ranges, steps = trace.ranges, measured.steps
    threads = threads_of(trace, steps).tolist()
    own = np.array([d in trace.recorder.own_domains for d in ranges.domains] or [False])
    found = Nested()
    names = [_name(text) for text in ranges.texts]
    for row, step in enumerate(steps):
        if not measured.owned.is_primary[row]:
            continue
        thread = threads[row]
        first, last = np.searchsorted(ranges.thread, [thread, thread + 1])
        starts = ranges.start_ns[first:last]
        low = int(first + np.searchsorted(starts, step.start_ns, "left"))
        high = int(first + np.searchsorted(starts, step.end_ns, "right"))
        inside = [
            i
            for i in range(low, high)
            if ranges.end_ns[i] <= step.end_ns
            and not own[ranges.domain[i]]
            and not _is_step(trace, i, step.range, step.start_ns, step.end_ns)
        ]
        _nest(
            found,
            row,
            [(int(ranges.start_ns[i]), int(ranges.end_ns[i])) for i in inside],
            [(ranges.domains[ranges.domain[i]], names[ranges.text[i]]) for i in inside],
        )
    return found


def _is_step(trace: Trace, i: int, text: str, start_ns: int, end_ns: int) -> bool:
    ranges = trace.ranges
    same = int(ranges.start_ns[i]) == start_ns and int(ranges.end_ns[i]) == end_ns
    return same and ranges.texts[ranges.text[i]] == text


def _name(text: str) -> str:
    marker = _LAYER_MARKER.match(text)
    return marker["module"] if marker else text


def _nest(
    found: Nested,
    row: int,
    bounds: Sequence[tuple[int, int]],
    names: Sequence[tuple[str, str]],
) -> None:
    """Sort a step's ranges into one another, and cut its time into stretches of the innermost.

    The innermost at an instant is the one that began last of those that are open. A range that
    outlasts the one around it (start/end ranges may) belongs to the next one that holds it.
    """
    order = sorted(range(len(bounds)), key=lambda i: (bounds[i][0], -bounds[i][1]))
    opened: list[tuple[int, int]] = []  # (end, number), the innermost last
    at = 0

    def close(until: int) -> None:
        nonlocal at
        while opened and opened[-1][0] <= until:
            end, number = opened.pop()
            if end > at:
                found.stretch.append((number, at, end))
                at = end

    for i in order:
        start, end = bounds[i]
        close(start)
        if opened and start > at:
            found.stretch.append((opened[-1][1], at, start))
        at = max(at, start)
        parent = next((n for e, n in reversed(opened) if e >= end), -1)
        number = len(found.row)
        found.row.append(row)
        found.parent.append(parent)
        found.name.append(names[i])
        found.start.append(start)
        found.end.append(end)
        opened.append((end, number))
    while opened:
        close(opened[-1][0])
