"""The part of a step that its engine captures, where ranges within the step's own tell it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from launchlens.metrics.engines import StepPattern, patterns
from launchlens.plural import counted
from launchlens.records.columns import Trace
from launchlens.records.figures import Step


def captured_parts(trace: Trace, steps: Sequence[Step]) -> tuple[list[Step], list[str]]:
    """The steps, cut down to the scope that their engine captures, and what to say of that.

    An engine's range holds more than the forward pass: inputs are prepared in it, tokens sampled.
    Where some steps show the scope of the forward pass, each such scope takes the place of its
    step, and steps without one are left out.
    """
    parts: list[Step] = []
    notes: list[str] = []
    for engine in dict.fromkeys(step.engine for step in steps):
        mine = [step for step in steps if step.engine == engine]
        pattern = next((p for p in patterns() if p.engine == engine), None)
        if pattern is None or not pattern.holds_more:
            parts += mine
            continue
        inside = [_scopes(trace, step, pattern) for step in mine]
        scopes = [scope for found in inside for scope in found]
        parts += scopes or mine
        if scopes:
            name = scopes[0].range
            without = sum(not found for found in inside)
            of = f"{without} of {counted(len(mine), 'step')}"
            left = f" {of} without such a range: left out." if without else ""
            notes.append(
                f"blockers were looked for in {name!r} within each step, which is what {engine} "
                f"captures; the step's own range holds the preparation of inputs too.{left}"
            )
        else:
            notes.append(
                f"a step's range holds more than what {engine} captures: inputs are prepared in "
                "it too. A blocker found here may lie outside the captured part."
            )
    return parts, notes


def holds_more(engine: str) -> bool:
    """Whether ranges of these steps hold more than the engine captures (`StepPattern`)."""
    return any(p.engine == engine and p.holds_more for p in patterns())


def captured_scopes(trace: Trace, step: Step) -> list[Step]:
    """What within a step's range its engine captures, where ranges tell it."""
    pattern = next((p for p in patterns() if p.engine == step.engine and p.holds_more), None)
    return _scopes(trace, step, pattern) if pattern is not None else []


def _scopes(trace: Trace, step: Step, pattern: StepPattern) -> list[Step]:
    """The step's scopes as steps, on its thread and within its range."""
    ranges = trace.ranges
    if pattern.scope is None:
        return []
    threads = [
        i
        for i, thread in enumerate(trace.threads)
        if thread.tid == step.tid and trace.processes[thread.process].pid == step.pid
    ]
    rows = np.flatnonzero(
        np.isin(ranges.thread, threads)
        & (ranges.start_ns >= step.start_ns)
        & (ranges.end_ns <= step.end_ns)
    )
    found = []
    for row in rows.tolist():
        text = ranges.texts[int(ranges.text[row])]
        if pattern.scope.search(text):
            start, end = int(ranges.start_ns[row]), int(ranges.end_ns[row])
            found.append(replace(step, start_ns=start, end_ns=end, range=text))
    return found
