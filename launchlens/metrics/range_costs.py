"""What the NVTX ranges inside steps cost: host time, launches, GPU idle, nested properly."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Sequence

import numpy as np

from launchlens.calls import CallKind
from launchlens.calls.step_calls import calls_of
from launchlens.intervals import Cover
from launchlens.metrics.measure import MeasuredSteps
from launchlens.metrics.nesting import Nested, nest_ranges, threads_of
from launchlens.records.columns import IntColumn, Trace
from launchlens.records.figures import PHASES, RangeCost

_NUMBER = re.compile(r"\d+")
_MOST_PATHS = 300
"""Paths of one group that are kept: those in which the host spent most."""

Path = tuple[str, ...]


def range_costs(trace: Trace, measured: MeasuredSteps) -> tuple[RangeCost, ...]:
    """Every range inside the steps, by its path, for each phase and process.

    A range counts that lies within a step on the step's thread. Ranges of the recorder itself are
    left out. Returns a tree in reading order: a range is followed by those within it.
    """
    found = nest_ranges(trace, measured)
    if not found.row:
        return ()
    row = np.array(found.row, np.int64)
    whole = _measure(trace, measured, row, found.start, found.end)
    holder = np.array([r for r, _, _ in found.stretch], np.int64)
    starts, ends = ([s[i] for s in found.stretch] for i in (1, 2))
    parts = _measure(trace, measured, row[holder], starts, ends)
    own = [
        np.bincount(holder, column, row.size) if column is not None else None for column in parts
    ]
    return tuple(_rows(measured, found, whole, own))


def _measure(
    trace: Trace,
    measured: MeasuredSteps,
    row: IntColumn,
    starts: Sequence[int],
    ends: Sequence[int],
) -> tuple[IntColumn, IntColumn | None, IntColumn]:
    """Host time, launches and idle time of intervals on the threads of steps; shapes (intervals,).

    Idle time is 0 where the step's is not known, launches are None where there are no calls.
    """
    start, end = np.array(starts, np.int64), np.array(ends, np.int64)
    launches = None
    if trace.has_api:
        kind = measured.calls.kind
        wanted = (kind == CallKind.KERNEL) | (kind == CallKind.GRAPH)
        rows = np.flatnonzero(wanted & ~measured.calls.captured)
        thread = threads_of(trace, measured.steps)[row]
        slices = calls_of(trace.api, thread, start, end - 1)
        launches = slices.within(rows).count
    gpu_of = np.array([d.gpu for d in trace.devices] or [0], np.int64)
    gpu = gpu_of[measured.owned.device][row]
    idle = np.zeros(start.size, np.int64)
    for one in np.unique(gpu).tolist():
        ops = np.flatnonzero(gpu_of[trace.ops.device] == one)
        cover = Cover.of(trace.ops.start_ns[ops], trace.ops.end_ns[ops], is_sorted=True)
        mine = gpu == one
        idle[mine] = (end - start)[mine] - cover.length_within(start[mine], end[mine])
    return end - start, launches, idle


def _rows(
    measured: MeasuredSteps,
    found: Nested,
    whole: Sequence[IntColumn | None],
    own: Sequence[IntColumn | None],
) -> list[RangeCost]:
    groups: dict[tuple[str, int], list[int]] = {}
    for row, step in enumerate(measured.steps):
        if measured.owned.is_primary[row]:
            groups.setdefault((step.phase, step.pid), []).append(row)
    at: dict[int, list[int]] = {}
    for number, row in enumerate(found.row):
        at.setdefault(row, []).append(number)
    costs: list[RangeCost] = []
    for key in sorted(groups, key=lambda k: (PHASES.index(k[0]), k[1])):
        costs += _group(measured, found, groups[key], at, (whole, own))
    return costs


def _group(
    measured: MeasuredSteps,
    found: Nested,
    rows: Sequence[int],
    at: dict[int, list[int]],
    figures: tuple[Sequence[IntColumn | None], Sequence[IntColumn | None]],
) -> list[RangeCost]:
    """The tree of ranges of the steps of one phase and process."""
    path_of: dict[int, Path] = {}
    members: dict[Path, dict[int, list[int]]] = {}
    for row in rows:
        for number in at.get(row, ()):
            parent = found.parent[number]
            folded = _NUMBER.sub("*", found.name[number][1])
            path = (*(path_of[parent] if parent >= 0 else ()), folded)
            path_of[number] = path
            members.setdefault(path, {}).setdefault(row, []).append(number)
    first = measured.steps[rows[0]]
    idle_known = all(
        s.idle is not None and s.bounds.get("idle") is None
        for s in (measured.steps[row] for row in rows)
    )

    def of_step(column: IntColumn | None, path: Path) -> float | None:
        if column is None:
            return None
        sums = [sum(float(column[n]) for n in members[path].get(row, ())) for row in rows]
        return statistics.median(sums)

    spent = {path: of_step(figures[0][0], path) or 0.0 for path in members}
    kept = set(sorted(members, key=lambda p: (-spent[p], len(p), p))[:_MOST_PATHS])
    shown = {path: _shown(found, members[path]) for path in kept}
    costs = []
    for path in _in_order(kept, lambda p: spent[p]):
        (host, launches, idle), (own_host, own_launches, own_idle) = (
            tuple(of_step(column, path) for column in columns) for columns in figures
        )
        ranges = [n for numbers in members[path].values() for n in numbers]
        costs.append(
            RangeCost(
                phase=first.phase,
                pid=first.pid,
                path=tuple(shown[path[: depth + 1]] for depth in range(len(path))),
                domain=found.name[ranges[0]][0],
                count=len(ranges) / len(rows),
                host_ns=host or 0.0,
                own_host_ns=own_host or 0.0,
                launches=launches,
                own_launches=own_launches,
                idle_ns=idle if idle_known else None,
                own_idle_ns=own_idle if idle_known else None,
            )
        )
    return costs


def _shown(found: Nested, members: dict[int, list[int]]) -> str:
    """The text of ranges that all have the same, or what stands for all of them."""
    texts = {found.name[number][1] for numbers in members.values() for number in numbers}
    return texts.pop() if len(texts) == 1 else _NUMBER.sub("*", texts.pop())


def _in_order(paths: set[Path], spent: Callable[[Path], float]) -> list[Path]:
    """Each path behind the one around it, the costliest of a place first."""
    within: dict[Path, list[Path]] = {}
    for path in paths:
        within.setdefault(path[:-1], []).append(path)
    order: list[Path] = []

    def visit(around: Path) -> None:
        for path in sorted(within.get(around, ()), key=lambda p: (-spent(p), p)):
            order.append(path)
            visit(path)

    visit(())
    return order
