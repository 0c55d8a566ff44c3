"""Graphs broken at attention, or at the calls of ``--break-at``, which stay eager."""

from __future__ import annotations

import numpy as np

from launchlens.calls import CallKind
from launchlens.forecast.case import Case
from launchlens.forecast.changes import capture, lengthen, segments_between
from launchlens.forecast.step_graph import StepGraph
from launchlens.forecast.variants import Variant

_COPY_NS = 1_000
"""A piece between graphs copies its result into a buffer that the next graph reads; 0.99 µs in the
trace profile-qwen3-0.6b-breakable.graph."""


def _change(case: Case) -> StepGraph | None:
    graph = case.graph
    stays = case.breaks.copy()
    # What a memset right before prepares belongs to the call that breaks.
    memsets = (graph.kind == CallKind.MEMSET).nonzero()[0]
    works = np.isin(np.arange(graph.calls), graph.op_call)
    for call in memsets[::-1].tolist():
        following = next((c for c in range(call + 1, graph.calls) if works[c]), call)
        stays[call] |= stays[following]
    if not stays.any():
        return None
    # Marked before: adding work in front of an operation does not change which calls there are.
    segment = segments_between(stays | case.outside, works)
    changed = case.with_added(in_graph=False)
    pieces = np.flatnonzero(stays & ~np.append(stays[1:], False))
    ends = [c for c in pieces.tolist() if works[c]]
    last = np.searchsorted(graph.op_call, ends, side="right") - 1
    delay = case.constants.delay_ns.value
    changed = lengthen(changed, last, _COPY_NS + delay, case.launch_ns)
    return capture(changed, segment, case.constants)


VARIANT = Variant("breakable", "as graphs broken at", 1, _change)
