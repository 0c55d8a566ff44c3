"""What lies between steps: from one's end to the next one's start on the same thread.

An engine's range may hold the forward pass alone (vLLM's leaves sampling out), so that launches
and idle time of what comes after it are in no step.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from launchlens.calls import CallKind
from launchlens.calls.step_calls import Slices, calls_of
from launchlens.intervals import Cover
from launchlens.metrics.measure import MeasuredSteps
from launchlens.metrics.nesting import threads_of
from launchlens.metrics.statistics import describe
from launchlens.records.columns import IntColumn, Trace
from launchlens.records.figures import PHASES, BetweenSteps
from launchlens.records.metric import Flaw


def between_steps(trace: Trace, measured: MeasuredSteps) -> tuple[BetweenSteps, ...]:
    """Launches, copies, waits and idle time between steps, by phase of the step before.

    Intervals are those between neighbours among the steps of a thread; steps that overlap leave
    none. What other threads submit meanwhile is not counted.
    """
    pairs = _neighbours(measured)
    if not pairs or not trace.has_api:
        return ()
    before = np.array([a for a, _ in pairs], np.int64)
    start = np.array([measured.steps[a].end_ns for a, _ in pairs], np.int64)
    end = np.array([measured.steps[b].start_ns for _, b in pairs], np.int64)
    thread = threads_of(trace, [measured.steps[a] for a in before.tolist()])
    # A call at the very end of a range is the step's own, one at the start of the next is its.
    slices = calls_of(trace.api, thread, start + 1, end - 1)
    idle = _idle(trace, measured, before, start, end, slices)
    groups: dict[tuple[str, int, int | None], list[int]] = {}
    for number, row in enumerate(before.tolist()):
        step = measured.steps[row]
        groups.setdefault((step.phase, step.pid, step.device), []).append(number)
    order = sorted(groups, key=lambda k: (PHASES.index(k[0]), k[2] is None, k[1], k[2] or 0))
    counts = {
        "launches": _count(measured, slices, CallKind.KERNEL, CallKind.GRAPH),
        "graph_launches": _count(measured, slices, CallKind.GRAPH),
        "copies": _count(measured, slices, CallKind.MEMCPY, CallKind.MEMSET),
        "sync_calls": _count(measured, slices, CallKind.SYNC),
    }
    length = (end - start).tolist()
    return tuple(
        BetweenSteps(
            after=measured.steps[before[groups[key][0]]].phase,
            pid=key[1],
            device=key[2],
            intervals=len(groups[key]),
            length_ns=describe([length[i] for i in groups[key]], "ns"),
            idle_ns=describe([idle[i] for i in groups[key]], "ns"),
            **{
                name: describe([column[i] for i in groups[key]], "count")
                for name, column in counts.items()
            },
        )
        for key in order
    )


def _neighbours(measured: MeasuredSteps) -> list[tuple[int, int]]:
    """Rows of steps that follow one another on a thread, without overlap, of its main device."""
    by_thread: dict[tuple[int, int], list[int]] = {}
    for row, step in enumerate(measured.steps):
        if measured.owned.is_primary[row]:
            by_thread.setdefault((step.pid, step.tid), []).append(row)
    steps, found = measured.steps, []
    for rows in by_thread.values():
        rows.sort(key=lambda row: steps[row].start_ns)
        found += [(a, b) for a, b in pairwise(rows) if steps[b].start_ns > steps[a].end_ns + 1]
    return found


def _count(measured: MeasuredSteps, slices: Slices, *kinds: CallKind) -> list[int]:
    kind = measured.calls.kind
    wanted = np.isin(kind, np.array(kinds, kind.dtype)) & ~measured.calls.captured
    counts: list[int] = slices.within(np.flatnonzero(wanted)).count.tolist()
    return counts


def _idle(
    trace: Trace,
    measured: MeasuredSteps,
    before: IntColumn,
    start: IntColumn,
    end: IntColumn,
    slices: Slices,
) -> list[int | None]:
    """Idle time of each interval on the device of the step before; None where it is not known."""
    unseen = np.flatnonzero(measured.calls.hidden | measured.calls.lost)
    known: npt.NDArray[np.bool_] = slices.within(unseen).count == 0
    for number, row in enumerate(before.tolist()):
        flawed = Flaw.LOSSES in measured.flaws[row]
        known[number] &= measured.steps[row].idle is not None and not flawed
    gpu_of = np.array([d.gpu for d in trace.devices] or [0], np.int64)
    gpu = gpu_of[measured.owned.device[before]]
    idle = np.zeros(start.size, np.int64)
    for one in np.unique(gpu[known]).tolist():
        rows = np.flatnonzero(gpu_of[trace.ops.device] == one)
        cover = Cover.of(trace.ops.start_ns[rows], trace.ops.end_ns[rows], is_sorted=True)
        mine = gpu == one
        idle[mine] = (end - start)[mine] - cover.length_within(start[mine], end[mine])
    return [ns if k else None for ns, k in zip(idle.tolist(), known.tolist(), strict=True)]
