"""Steps of a trace as graphs to forecast from, and which of them cannot be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from launchlens.errors import UsageError
from launchlens.workflow.forecasting.wanted import Wanted, compile_regex
from launchlens.workflow.load import Loaded

if TYPE_CHECKING:
    from launchlens.forecast import TracedStep
    from launchlens.forecast.changes import Mask
    from launchlens.forecast.constants import Constants
    from launchlens.forecast.step_graph import StepGraph, TraceIndex
    from launchlens.records.figures import Group, Step

ATTENTION = r"(?i)^(?!triton_).*(?:sdpa|flash|fmha|memeffatt|attention)"
"""Kernels of attention, by name. Triton's fused kernels name all they hold, and are none."""
_MOST_SUBMISSIONS = 60_000


def steps_of(loaded: Loaded, group: Group) -> list[Step]:
    """The steps that a group's figures are of."""
    key = (group.phase, group.pid, group.device)
    mine = [s for s in loaded.analysis.steps if (s.phase, s.pid, s.device) == key]
    return mine[group.dropped :]


def why_not(loaded: Loaded, group: Group, steps: Sequence[Step]) -> str | None:
    """Why no forecast can be made of a group, in a clause."""
    reasons = (
        (loaded.whole, "--whole reads no steps, and a forecast is of a step"),
        (
            any(s.graph_launches or s.captured_calls for s in steps),
            "CUDA graphs are launched or captured in them; a forecast starts from an eager trace",
        ),
        (
            not steps or any(s.window_ns is None or s.busy_ns is None for s in steps),
            (group.unknown_reason or "").rstrip(".")
            or "the trace does not tell what ran on the GPU",
        ),
        (
            any(s.bounds.get("busy_ns") or s.lost_launches or s.untimed_operations for s in steps),
            "the trace lacks some of what ran on the GPU, which a forecast would leave out",
        ),
        (any(s.step_launches != s.launches for s in steps), "they run on several GPUs"),
        (
            any((s.submissions or 0) > _MOST_SUBMISSIONS for s in steps),
            f"they submit more than {_MOST_SUBMISSIONS:,} operations",
        ),
    )
    return next((reason for holds, reason in reasons if holds), None)


def traced_step(
    loaded: Loaded, index: TraceIndex, step: Step, constants: Constants, wanted: Wanted
) -> TracedStep:
    """A step as a graph, with the names of its operations and where it is to be broken."""
    from launchlens.forecast import TracedStep
    from launchlens.forecast.step_graph import StepRows, build

    row = loaded.measured.steps.index(step)
    calls = loaded.measured.owned.calls
    rows = StepRows(int(calls.low[row]), int(calls.high[row]), step.start_ns, step.end_ns)
    graph = build(index, rows, delay_ns=round(constants.delay_ns.value))
    names = _names(loaded, graph)
    return TracedStep(
        graph=graph,
        names=names,
        breaks=_breaks(loaded, graph, names, step, wanted),
        outside=_outside(loaded, graph, step),
        marked=_marked(loaded, graph, step, wanted.within),
    )


def _marked(loaded: Loaded, graph: StepGraph, step: Step, within: str | None) -> Mask:
    """Calls in the ranges of ``--within``; all, where none are named."""
    import numpy as np

    if within is None:
        return np.ones(graph.calls, bool)
    found = calls_in_ranges(loaded, graph, step, compile_regex(within, "--within"))
    if not found.any():
        raise UsageError(
            f"--within {within!r} matches no range in the {step.phase} steps.",
            hint="launchlens profile --modules marks each module with a range.",
        )
    return found


def _outside(loaded: Loaded, graph: StepGraph, step: Step) -> Mask:
    """Calls outside of what the engine captures, where its ranges tell; else none."""
    import numpy as np

    from launchlens.metrics import captured_scopes

    start = loaded.trace.api.start_ns[graph.row]
    scopes = captured_scopes(loaded.trace, step)
    outside = np.full(graph.calls, bool(scopes))
    for scope in scopes:
        outside &= (start < scope.start_ns) | (start > scope.end_ns)
    return outside


def _names(loaded: Loaded, graph: StepGraph) -> list[str]:
    from launchlens.records.columns import OpKind

    table = loaded.trace.ops
    named = table.name[graph.op_row].tolist()
    return [
        loaded.trace.strings[name] if name >= 0 else "memset" if kind == OpKind.MEMSET else ""
        for name, kind in zip(named, graph.op_kind.tolist(), strict=True)
    ]


def _breaks(
    loaded: Loaded, graph: StepGraph, names: Sequence[str], step: Step, wanted: Wanted
) -> Mask:
    """Calls at which a graph is broken: of kernels with such names, and in such ranges."""
    import numpy as np

    from launchlens.forecast.changes import calls_of_ops

    found = compile_regex(wanted.break_at or ATTENTION, "--break-at")
    told = {name: bool(found.search(name)) for name in set(names)}
    ops = np.array([i for i, name in enumerate(names) if told[name]], np.int64)
    stays = calls_of_ops(graph, ops)
    if wanted.break_at is not None:
        stays |= calls_in_ranges(loaded, graph, step, found)
        if not stays.any():
            raise UsageError(
                f"--break-at {wanted.break_at!r} matches no kernel and no range of the "
                f"{step.phase} steps.",
                hint="launchlens analyze -v lists the kernels.",
            )
    return stays


def calls_in_ranges(loaded: Loaded, graph: StepGraph, step: Step, pattern: re.Pattern[str]) -> Mask:
    """Calls of a step that start in an NVTX range inside it whose text matches, shape (calls,)."""
    import numpy as np

    ranges, start = loaded.trace.ranges, loaded.trace.api.start_ns[graph.row]
    thread = int(loaded.trace.api.thread[graph.row[0]])
    texts = [i for i, text in enumerate(ranges.texts) if pattern.search(text)]
    rows = np.flatnonzero(
        np.isin(ranges.text, texts)
        & (ranges.thread == thread)
        & (ranges.start_ns >= step.start_ns)
        & (ranges.end_ns <= step.end_ns)
        & ((ranges.start_ns > step.start_ns) | (ranges.end_ns < step.end_ns))
    )
    inside = np.zeros(graph.calls, bool)
    for row in rows.tolist():
        inside |= (start >= ranges.start_ns[row]) & (start <= ranges.end_ns[row])
    return inside
