"""The GPU's gaps as a lane of a timeline, each by its cause."""

from __future__ import annotations

import numpy as np

from launchlens.intervals import Cover, uncovered_pieces
from launchlens.metrics.idle import BlockingCovers, GapKind, Wait
from launchlens.metrics.measure import MeasuredSteps
from launchlens.metrics.spans import Window, correlation_ids, op_names, spans
from launchlens.records.columns import IntColumn, Trace
from launchlens.records.timeline import Lane, Span

_TO_THE_END = "idle to the end of the window"
_BEFORE = "idle before "


def gap_lane(trace: Trace, measured: MeasuredSteps, window: Window) -> Lane:
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
    drawn: list[Span] = []
    for cause, start, end, next_op in pieces:
        kinds = [cause] * start.size
        if cause == GapKind.TAIL.cause:
            drawn += spans([_TO_THE_END] * start.size, start, end, kinds, window)
            continue
        names, ids = op_names(trace, next_op), correlation_ids(trace, next_op, window)
        drawn += spans(names, start, end, kinds, window, ids, _BEFORE)
    drawn.sort(key=lambda span: span.start_ns)
    device = trace.devices[window.device].device_id
    return Lane(f"GPU {device}, idle by cause", "gap", tuple(drawn))


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
        (Wait.HOST.cause, free.start_ns, split, next_op[free.window]),
        (Wait.LAUNCH.cause, split, free.end_ns, next_op[free.window]),
        (
            Wait.SYNC.cause,
            np.maximum(blocked.start_ns[piece], g0[gap]),
            np.minimum(blocked.end_ns[piece], g1[gap]),
            next_op[gap],
        ),
    ]
    kept = [(c, a, b, n, b > a) for c, a, b, n in found]
    return [(c, a[k], b[k], n[k]) for c, a, b, n, k in kept]
