"""Ranges of a step, ranked by what it would save if the CPU's work in them took no time."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from launchlens.records.forecast import RangeSaving
from launchlens.workflow.load import Loaded

if TYPE_CHECKING:
    from launchlens.forecast.constants import Constants
    from launchlens.forecast.step_graph import StepGraph
    from launchlens.records.figures import Step

_NUMBER = re.compile(r"\d+")
_MOST_NAMES = 60
_MOST = 10


def rank_ranges(
    loaded: Loaded, step: Step, graph: StepGraph, constants: Constants
) -> tuple[RangeSaving, ...]:
    """The ranges within one step that would save most; layers of a kind count together.

    None where the step has more than 60 kinds of ranges: no list of ten would show them.
    """
    import numpy as np

    from launchlens.forecast.changes import scale_host, without_tracing
    from launchlens.forecast.simulate import simulate

    masks = _by_name(loaded, step, graph)
    if not masks or len(masks) > _MOST_NAMES:
        return ()
    untraced = without_tracing(graph, constants.tracing_ns.value)
    base, work = simulate(untraced).window_ns, untraced.gap_ns + untraced.cost_ns
    found = [
        RangeSaving(
            step.phase,
            name,
            int(work[mask].sum()),
            base - simulate(scale_host(untraced, mask, 0.0)).window_ns,
        )
        for name, mask in masks.items()
        if np.any(mask)
    ]
    return tuple(sorted(found, key=lambda r: -r.saved_ns)[:_MOST])


def _by_name(loaded: Loaded, step: Step, graph: StepGraph) -> dict[str, Any]:
    """Calls in ranges inside the step, by the ranges' text with its numbers left out."""
    import numpy as np

    ranges, start = loaded.trace.ranges, loaded.trace.api.start_ns[graph.row]
    thread = int(loaded.trace.api.thread[graph.row[0]])
    rows = np.flatnonzero(
        (ranges.thread == thread)
        & (ranges.start_ns >= step.start_ns)
        & (ranges.end_ns <= step.end_ns)
        & ((ranges.start_ns > step.start_ns) | (ranges.end_ns < step.end_ns))
    )
    masks: dict[str, Any] = defaultdict(lambda: np.zeros(graph.calls, bool))
    for row in rows.tolist():
        low, high = np.searchsorted(start, [ranges.start_ns[row], ranges.end_ns[row] + 1])
        masks[_NUMBER.sub("#", ranges.texts[int(ranges.text[row])])][low:high] = True
    return dict(masks)
