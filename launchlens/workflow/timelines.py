"""Timelines of steps, for HTML and Perfetto."""

from __future__ import annotations

from collections.abc import Sequence

from launchlens.errors import TraceError, UsageError
from launchlens.records.comparison import Comparison
from launchlens.records.figures import Analysis, Step
from launchlens.records.timeline import Timeline
from launchlens.workflow.load import Loaded
from launchlens.workflow.sides import LoadedSide


def timelines_of(loaded: Loaded | None, label: str | None = None) -> list[Timeline]:
    """The representative step of a trace's first group; none where windows are unknown."""
    if loaded is None:
        return []
    from launchlens.metrics.timeline import build_timeline, representative_step

    step = representative_step(loaded.analysis, loaded.analysis.summary[0])
    if step is None:
        return []
    side = label or loaded.analysis.trace.label
    return [build_timeline(loaded.trace, loaded.measured, step, side=side)]


def timelines_of_sides(comparison: Comparison, sides: Sequence[LoadedSide]) -> list[Timeline]:
    """The same for each side of a comparison, under the side's name."""
    named = zip(comparison.sides, sides, strict=True)
    return [t for reported, side in named for t in timelines_of(side.loaded, reported.label)]


def timeline_of_step(side: LoadedSide, number: int | None) -> tuple[Timeline, Step, bool]:
    """One step's timeline, the step, and whether it ran on several devices.

    ``number`` is the step's index; None takes the one whose window is the median.

    Raises:
        UsageError: there is no step of this number.
        TraceError: the side has no trace, or the step's window is not known.
    """
    from launchlens.metrics.timeline import build_timeline, representative_step

    loaded = require_trace(side)
    analysis = loaded.analysis
    if number is None:
        step, several = representative_step(analysis, analysis.summary[0]), False
        if step is None:
            reason = analysis.summary[0].unknown_reason or "its steps are too large to draw"
            raise TraceError(f"{side.input.label} has no step to export: {reason.rstrip('.')}.")
    else:
        step, several = _numbered_step(analysis, number)
    timeline = build_timeline(loaded.trace, loaded.measured, step, side=side.input.label)
    return timeline, step, several


def require_trace(side: LoadedSide) -> Loaded:
    """The side's trace; `TraceError` if it left none."""
    if side.loaded is None:
        raise TraceError(f"{side.input.label} left no trace to export.")
    return side.loaded


def _numbered_step(analysis: Analysis, number: int) -> tuple[Step, bool]:
    found = [step for step in analysis.steps if step.index == number]
    if not found:
        numbers = sorted({step.index for step in analysis.steps})
        raise UsageError(
            f"There is no step {number}.", hint=f"There are {numbers[0]} to {numbers[-1]}."
        )
    step = found[0]
    if step.window_ns is None:
        reason = (step.unknown_reason or "its window is unknown").rstrip(".")
        raise TraceError(f"Step {number} cannot be exported: {reason}.")
    return step, len(found) > 1
