"""What if some calls were gone, or the thread were faster: changes that a user asks for."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np

from launchlens.calls import CallKind
from launchlens.forecast.case import Case, Change
from launchlens.forecast.changes import Mask, scale_host, without_calls
from launchlens.forecast.simulate import simulate
from launchlens.forecast.step_graph import StepGraph
from launchlens.records.columns import IntColumn


def with_their_waits(graph: StepGraph, calls: Mask) -> Mask:
    """These calls, and the synchronize call that waits for each copy among them."""
    wanted = calls.copy()
    telling = np.flatnonzero(graph.kind != CallKind.OTHER)
    place = np.searchsorted(telling, np.flatnonzero(calls & (graph.kind == CallKind.MEMCPY))) + 1
    following = telling[place[place < telling.size]]
    wanted[following[graph.kind[following] == CallKind.SYNC]] = True
    return wanted


def without_rows(graph: StepGraph, rows: IntColumn) -> StepGraph:
    """The step without these calls of the trace (rows of its table), and without their waits."""
    return without_calls(graph, with_their_waits(graph, np.isin(graph.row, rows)))


def saved_without(graphs: Sequence[StepGraph], rows: IntColumn) -> int | None:
    """By how much a step is shorter without these calls: the median; None where it has none."""
    there = [graph for graph in graphs if np.isin(graph.row, rows).any()]
    if not there:
        return None
    saved = (simulate(g).window_ns - simulate(without_rows(g, rows)).window_ns for g in there)
    return max(round(statistics.median(saved)), 0)


def ask_without(rows: IntColumn) -> Change:
    """The change that takes calls away; None for a step that has none of them."""

    def change(case: Case) -> StepGraph | None:
        there = np.isin(case.graph.row, rows).any()
        return without_rows(case.graph, rows) if there else None

    return change


def ask_faster(factor: float) -> Change:
    """The change that leaves this part of the thread's work in the ranges that are marked."""

    def change(case: Case) -> StepGraph | None:
        return scale_host(case.graph, case.marked, factor) if case.marked.any() else None

    return change
