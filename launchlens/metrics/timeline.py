"""One step laid out in time: the thread's calls and ranges, the GPU's streams, the gaps."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from launchlens.calls import CallKind, base_name
from launchlens.metrics.gap_lane import gap_lane
from launchlens.metrics.measure import MeasuredSteps
from launchlens.metrics.spans import Rows, Window, correlation_ids, op_names, spans
from launchlens.records.columns import IntColumn, OpKind, Trace
from launchlens.records.figures import Analysis, Group, Step
from launchlens.records.timeline import Lane, Span, Timeline

MOST_SUBMISSIONS = 60_000
"""A step with more submissions than this is not drawn: no page holds it (--whole on a long run)."""

_MODULE = "module:"
_CALL_KINDS = {
    CallKind.KERNEL: "launch",
    CallKind.GRAPH: "launch",
    CallKind.MEMCPY: "memcpy",
    CallKind.MEMSET: "memcpy",
    CallKind.SYNC: "sync",
}


def representative_step(analysis: Analysis, group: Group) -> Step | None:
    """The step of a group whose window is the median one (of two, the shorter).

    None where there is nothing to draw: the windows of the group's steps are unknown, or the step
    holds more than `MOST_SUBMISSIONS` submissions.
    """
    key = (group.phase, group.pid, group.device)
    steps = [s for s in analysis.steps if (s.phase, s.pid, s.device) == key]
    known = sorted(
        (s for s in steps[group.dropped :] if s.window_ns is not None),
        key=lambda s: (s.window_ns or 0, s.index),
    )
    if not known:
        return None
    step = known[(len(known) - 1) // 2]
    return step if (step.kernels or step.submissions or 0) <= MOST_SUBMISSIONS else None


def build_timeline(trace: Trace, measured: MeasuredSteps, step: Step, *, side: str) -> Timeline:
    """Lay one step out in time.

    Lanes, in order: the CUDA calls of the step's thread, its NVTX ranges (a lane for each
    nesting level), every stream of the step's GPU, and the GPU's gaps by cause where these are
    known. Times count from the step's start; calls and operations of other steps within the
    window are there too.

    Raises:
        ValueError: the step is not of ``measured``, or has no window.
    """
    row = measured.steps.index(step)
    if step.window_ns is None:
        raise ValueError(f"step {step.index} has no known window")
    first_call = measured.owned.calls.low[row]
    window = Window(
        row,
        step.start_ns,
        step.start_ns + step.window_ns,
        int(trace.api.thread[first_call]),
        int(measured.owned.device[row]),
    )
    lanes = [
        _host_lane(trace, measured, window),
        *_range_lanes(trace, window),
        *_stream_lanes(trace, window),
    ]
    if step.gaps_ns is not None:
        lanes.append(gap_lane(trace, measured, window))
    drawn = tuple(lane for lane in lanes if lane.spans)
    bound = step.bounds.get("window_ns")
    return Timeline(side, step.index, step.range, step.phase, step.window_ns, drawn, bound)


def _host_lane(trace: Trace, measured: MeasuredSteps, window: Window) -> Lane:
    api = trace.api
    low, high = np.searchsorted(api.thread, [window.thread, window.thread + 1])
    mine = slice(int(low), int(high))
    rows = low + np.flatnonzero(_overlaps(api.start_ns[mine], api.end_ns[mine], window))
    kinds = [
        "other" if captured else _CALL_KINDS.get(CallKind(kind), "other")
        for kind, captured in zip(
            measured.calls.kind[rows].tolist(), measured.calls.captured[rows].tolist(), strict=True
        )
    ]
    names = [base_name(api.names[i]) for i in api.name[rows].tolist()]
    ids = api.correlation_id[rows].tolist()
    drawn = spans(names, api.start_ns[rows], api.end_ns[rows], kinds, window, ids)
    return Lane(f"CPU thread {trace.threads[window.thread].tid}: CUDA calls", "host", drawn)


def _range_lanes(trace: Trace, window: Window) -> list[Lane]:
    """Ranges that start and end within the window; a range around the step shows nothing."""
    ranges = trace.ranges
    rows = np.flatnonzero(
        (ranges.thread == window.thread)
        & (ranges.start_ns >= window.start_ns)
        & (ranges.end_ns <= window.end_ns)
    )
    rows = rows[np.lexsort((-ranges.end_ns[rows], ranges.start_ns[rows]))]
    names = [ranges.texts[i] for i in ranges.text[rows].tolist()]
    kinds = ["module" if name.startswith(_MODULE) else "range" for name in names]
    drawn = spans(names, ranges.start_ns[rows], ranges.end_ns[rows], kinds, window)
    levels: list[list[Span]] = []
    for span in drawn:
        # One step's ranges are few: each goes to the first level that is free at its start.
        free = (lv for lv in levels if lv[-1].start_ns + lv[-1].duration_ns <= span.start_ns)
        level = next(free, None)
        if level is None:
            levels.append(level := [])
        level.append(span)
    return [
        Lane("NVTX ranges" + (f", level {i}" if i > 1 else ""), "range", tuple(level))
        for i, level in enumerate(levels, start=1)
    ]


def _stream_lanes(trace: Trace, window: Window) -> list[Lane]:
    ops, rows = trace.ops, _device_ops(trace, window)
    shown = trace.devices[window.device]
    processes = np.unique(ops.process[rows])
    lanes = []
    keys = np.stack([ops.process[rows], ops.stream_id[rows]], axis=1)
    for process, stream in np.unique(keys, axis=0).tolist():
        mine = rows[(keys[:, 0] == process) & (keys[:, 1] == stream)]
        kinds = [OpKind(kind).name.lower() for kind in ops.kind[mine].tolist()]
        names = op_names(trace, mine)
        title = f"GPU {shown.device_id}, stream {stream}"
        if processes.size > 1:
            title += f" of process {trace.processes[process].pid}"
        ids = correlation_ids(trace, mine, window)
        drawn = spans(names, ops.start_ns[mine], ops.end_ns[mine], kinds, window, ids)
        lanes.append(Lane(title, "stream", drawn))
    return lanes


def _device_ops(trace: Trace, window: Window) -> Rows:
    """Operations on the step's GPU, whoever submitted them: they make it busy all the same."""
    ops = trace.ops
    gpu = np.array([d.gpu for d in trace.devices], np.int64)
    here = _overlaps(ops.start_ns, ops.end_ns, window)
    return np.flatnonzero(here & (gpu[ops.device] == gpu[window.device]))


def _overlaps(start_ns: IntColumn, end_ns: IntColumn, window: Window) -> npt.NDArray[np.bool_]:
    inside: npt.NDArray[np.bool_] = (start_ns < window.end_ns) & (end_ns > window.start_ns)
    return inside
