"""One step laid out in time: the thread's calls and ranges, the GPU's streams, the gaps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from launchlens.calls import CallKind, base_name
from launchlens.intervals import Cover, uncovered_pieces
from launchlens.metrics.breakdown import OP_NAMES
from launchlens.metrics.idle import BlockingCovers, GapKind
from launchlens.metrics.measure import MeasuredSteps
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

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class _Window:
    """The part of a trace that is drawn: one step's window, its thread and device."""

    row: int
    start_ns: int
    end_ns: int
    thread: int
    device: int


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
    window = _Window(
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
        lanes.append(_gap_lane(trace, measured, window))
    drawn = tuple(lane for lane in lanes if lane.spans)
    bound = step.bounds.get("window_ns")
    return Timeline(side, step.index, step.range, step.phase, step.window_ns, drawn, bound)


def _host_lane(trace: Trace, measured: MeasuredSteps, window: _Window) -> Lane:
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
    spans = _spans(names, api.start_ns[rows], api.end_ns[rows], kinds, window)
    return Lane(f"CPU thread {trace.threads[window.thread].tid}: CUDA calls", "host", spans)


def _range_lanes(trace: Trace, window: _Window) -> list[Lane]:
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
    spans = _spans(names, ranges.start_ns[rows], ranges.end_ns[rows], kinds, window)
    levels: list[list[Span]] = []
    for span in spans:
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


def _stream_lanes(trace: Trace, window: _Window) -> list[Lane]:
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
        spans = _spans(names, ops.start_ns[mine], ops.end_ns[mine], kinds, window)
        lanes.append(Lane(title, "stream", spans))
    return lanes


def op_names(trace: Trace, rows: IntColumn | Rows) -> list[str]:
    """Names of GPU operations: kernels by their own, others by what they are."""
    kinds, codes = trace.ops.kind[rows].tolist(), trace.ops.name[rows].tolist()
    return [
        OP_NAMES.get(OpKind(kind)) or (trace.strings[code] if code >= 0 else "[kernel]")
        for kind, code in zip(kinds, codes, strict=True)
    ]


def _gap_lane(trace: Trace, measured: MeasuredSteps, window: _Window) -> Lane:
    """The gaps, those that waited for the host cut into the instants of each cause."""
    gaps = measured.device_time.gaps
    position = int(np.searchsorted(measured.windowed, window.row))
    rows = np.flatnonzero(gaps.row == position)
    pieces: list[tuple[str, IntColumn, IntColumn, IntColumn]] = []
    for kind in (k for k in GapKind if k is not GapKind.WAITING):
        here = rows[gaps.kind[rows] == kind]
        pieces.append((kind.cause, gaps.start_ns[here], gaps.end_ns[here], gaps.next_op[here]))
    waiting = rows[gaps.kind[rows] == GapKind.WAITING]
    blocked = BlockingCovers(trace, measured.calls).of(window.thread)
    pieces += _waiting_pieces(
        trace, blocked, gaps.start_ns[waiting], gaps.end_ns[waiting], gaps.next_op[waiting]
    )
    spans: list[Span] = []
    for cause, start, end, next_op in pieces:
        names = _gap_names(trace, cause, next_op)
        spans += _spans(names, start, end, [cause] * start.size, window)
    spans.sort(key=lambda span: span.start_ns)
    device = trace.devices[window.device].device_id
    return Lane(f"GPU {device}, idle by cause", "gap", tuple(spans))


def _waiting_pieces(
    trace: Trace, blocked: Cover, g0: IntColumn, g1: IntColumn, next_op: IntColumn
) -> list[tuple[str, IntColumn, IntColumn, IntColumn]]:
    """Host, launch and sync instants of gaps ``[g0, g1)`` that end with ``next_op``."""
    called = np.clip(trace.api.start_ns[trace.ops.api_row[next_op]], g0, g1)
    free = uncovered_pieces(blocked, g0, g1)
    split = np.clip(called[free.window], free.start_ns, free.end_ns)
    low = np.searchsorted(blocked.end_ns, g0, side="right")
    count = np.maximum(np.searchsorted(blocked.start_ns, g1, side="left") - low, 0)
    gap = np.repeat(np.arange(g0.size), count)
    piece = np.arange(gap.size) - np.repeat(np.cumsum(count) - count, count) + low[gap]
    found = [
        ("host", free.start_ns, split, next_op[free.window]),
        ("launch", split, free.end_ns, next_op[free.window]),
        (
            "sync",
            np.maximum(blocked.start_ns[piece], g0[gap]),
            np.minimum(blocked.end_ns[piece], g1[gap]),
            next_op[gap],
        ),
    ]
    kept = [(c, a, b, n, b > a) for c, a, b, n in found]
    return [(c, a[k], b[k], n[k]) for c, a, b, n, k in kept]


def _gap_names(trace: Trace, cause: str, next_op: IntColumn) -> list[str]:
    if cause == "tail":
        return ["idle to the end of the window"] * next_op.size
    return [f"idle before {name}" for name in op_names(trace, next_op)]


def _device_ops(trace: Trace, window: _Window) -> Rows:
    """Operations on the step's GPU, whoever submitted them: they make it busy all the same."""
    ops = trace.ops
    gpu = np.array([d.gpu for d in trace.devices], np.int64)
    here = _overlaps(ops.start_ns, ops.end_ns, window)
    return np.flatnonzero(here & (gpu[ops.device] == gpu[window.device]))


def _overlaps(start_ns: IntColumn, end_ns: IntColumn, window: _Window) -> npt.NDArray[np.bool_]:
    inside: npt.NDArray[np.bool_] = (start_ns < window.end_ns) & (end_ns > window.start_ns)
    return inside


def _spans(
    names: Sequence[str],
    start_ns: IntColumn,
    end_ns: IntColumn,
    kinds: Iterable[str],
    window: _Window,
) -> tuple[Span, ...]:
    starts = (start_ns - window.start_ns).tolist()
    durations = (end_ns - start_ns).tolist()
    return tuple(map(Span, names, starts, durations, kinds))
