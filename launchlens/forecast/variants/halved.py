"""Half the kernel launches: kernels fused in pairs, as a compiler might."""

from __future__ import annotations

from launchlens.forecast.case import Case
from launchlens.forecast.changes import halve_launches
from launchlens.forecast.step_graph import StepGraph
from launchlens.forecast.variants import Variant


def _change(case: Case) -> StepGraph | None:
    return halve_launches(case.graph) if case.graph.launches.sum() > 1 else None


VARIANT = Variant("halved", "with half the kernel launches", 2, _change)
