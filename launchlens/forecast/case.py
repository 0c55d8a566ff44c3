"""One step as forecasts see it: without tracing, with what is known of its operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from launchlens.forecast.changes import Mask, lengthen
from launchlens.forecast.constants import Constants
from launchlens.forecast.effects import Effect, effects
from launchlens.forecast.step_graph import StepGraph
from launchlens.records.columns import IntColumn


@dataclass(frozen=True)
class Case:
    """A step, its costs, and where it is to be broken."""

    graph: StepGraph
    """The step, tracing taken off."""
    names: Sequence[str]
    """What each operation is: a kernel's name, "memset", or ""."""
    constants: Constants
    """What launches and graphs cost."""
    breaks: Mask
    """Calls at which a breakable graph is broken, shape (calls,)."""
    outside: Mask
    """Calls that the engine makes outside of what it captures: they stay, shape (calls,)."""
    marked: Mask
    """Calls in the ranges that a question is about, shape (calls,)."""
    adds: float = 1.0
    """How much of what capturing adds is counted."""

    @cached_property
    def added(self) -> list[tuple[Effect, IntColumn]]:
        """Known work that a capture adds, and the operations in front of which."""
        places = [(e, np.array(e.find(self.names), np.int64)) for e in effects()]
        return [(effect, ops) for effect, ops in places if ops.size]

    @cached_property
    def launch_ns(self) -> float:
        """What the thread needs to submit one more operation: the median of those there are.

        From one submission's return to the next one's, with all calls between them.
        """
        submits = np.flatnonzero(np.bincount(self.graph.op_call, minlength=self.graph.calls))
        spent = np.cumsum(self.graph.gap_ns + self.graph.cost_ns)[submits]
        return float(np.median(np.diff(spent))) if spent.size > 1 else 0.0

    def added_ns(self, effect: Effect, *, in_graph: bool) -> float:
        """What an effect lengthens the GPU's work by, in each place."""
        c = self.constants
        gap = c.node_gap_ns.value if in_graph else c.delay_ns.value
        return self.adds * (effect.busy_ns + effect.operations * gap)

    def with_added(self, *, in_graph: bool) -> StepGraph:
        """The step with the work that a capture adds, in a graph or between graphs."""
        graph = self.graph
        for effect, ops in self.added:
            host = 0.0 if in_graph else self.adds * effect.operations * self.launch_ns
            graph = lengthen(graph, ops, self.added_ns(effect, in_graph=in_graph), host)
        return graph


Change = Callable[[Case], StepGraph | None]
"""A step run in another way; None where it leaves nothing to change."""
