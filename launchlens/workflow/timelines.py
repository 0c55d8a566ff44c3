"""Timelines of representative steps, for HTML and Perfetto."""

from __future__ import annotations

from typing import TYPE_CHECKING

from launchlens.workflow.load import Loaded

if TYPE_CHECKING:
    from launchlens.records.timeline import Timeline


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
