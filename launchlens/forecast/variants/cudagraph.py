"""The whole step as one CUDA graph."""

from __future__ import annotations

from launchlens.forecast.case import Case
from launchlens.forecast.changes import capture, whole
from launchlens.forecast.step_graph import StepGraph
from launchlens.forecast.variants import Variant


def _change(case: Case) -> StepGraph:
    return capture(case.with_added(in_graph=True), whole(case.graph), case.constants)


VARIANT = Variant("cudagraph", "as one CUDA graph", 0, _change)
