"""The whole step as one CUDA graph."""

from __future__ import annotations

import numpy as np

from launchlens.forecast.case import Case
from launchlens.forecast.changes import capture
from launchlens.forecast.dependencies import NONE
from launchlens.forecast.step_graph import StepGraph
from launchlens.forecast.variants import Variant


def _change(case: Case) -> StepGraph:
    segment = np.where(case.outside, NONE, 0)
    return capture(case.with_added(in_graph=True), segment, case.constants)


VARIANT = Variant("cudagraph", "as one CUDA graph", 0, _change)
