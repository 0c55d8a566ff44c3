"""What the rows of each step lack, and what that makes of its figures: bounds, or unknown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from launchlens.catalogue import GAPS, step_metrics
from launchlens.metrics.figures import Column
from launchlens.metrics.step_rows import Mask, StepRows
from launchlens.records.columns import CopyDirection, Trace
from launchlens.records.metric import Bound, Flaw


@dataclass(frozen=True, slots=True)
class Verdict:
    """What some flaws together make of the figures of a row."""

    bounds: dict[str, Bound]
    unknown: tuple[str, ...]


def find_flaws(m: StepRows) -> list[frozenset[Flaw]]:
    """The flaws of each row."""
    spans = np.array([t in ("graph", "mixed") for t in m.graph_tracing], bool)
    found: dict[Flaw, Mask] = {
        Flaw.SPANS: spans,
        Flaw.NAMES: (m.unnamed > 0) | (m.trace.stray_calls > 0),
        Flaw.LISTS: m.unlisted > 0,
        Flaw.LOSSES: _lost_by_recorder(m),
        Flaw.ROWS: m.lost_of_step > 0,
        Flaw.TIMES: m.untimed_of_step > 0,
        Flaw.CLOCKS: m.early > 0,
        Flaw.GPUS: m.shares_gpu,
    }
    rows = np.stack([np.broadcast_to(mask, m.rows) for mask in found.values()], axis=1)
    listed = np.array(list(found), object)
    always = m.trace.recorder.lacks
    return [always.union(listed[there].tolist()) for there in rows]


@cache
def verdict_on(flaws: frozenset[Flaw]) -> Verdict:
    """What flaws make of each metric; bounds from both sides leave nothing known."""
    bounds: dict[str, Bound] = {}
    unknown = []
    for metric in step_metrics():
        effects = {e for flaw in flaws if (e := metric.effect_of(flaw))}
        if len(effects) > 1 or "unknown" in effects:
            unknown.append(metric.name)
        elif effects:
            (bounds[metric.name],) = effects  # type: ignore[assignment]
    # The causes sum to the idle time: one of them unknown leaves all of them so.
    names = tuple(dict.fromkeys(n.partition(".")[0] for n in unknown))
    kept = {n: b for n, b in bounds.items() if n.partition(".")[0] not in names}
    return Verdict(kept, names)


def settle(m: StepRows, columns: dict[str, Column]) -> list[frozenset[Flaw]]:
    """Withhold figures that the flaws of their row leave unknown, and mark those they bound.

    Figures that say nothing of graphs (`Metric.without_graphs`) are unknown where there are any.

    Changes ``columns``, a list for each field of `Step`, and adds ``bounds`` to them.

    Returns:
        The flaws of each row.
    """
    flaws = find_flaws(m)
    graphs = np.flatnonzero(m.graph_launches > 0).tolist()
    for metric in step_metrics():
        for row in graphs if metric.without_graphs else ():
            columns[metric.name][row] = None
    columns["bounds"] = []
    for row, own in enumerate(flaws):
        verdict = verdict_on(own)
        for name in verdict.unknown:
            columns[name][row] = None
        columns["bounds"].append(
            {n: b for n, b in verdict.bounds.items() if _is_known(columns, n, row)}
        )
    return flaws


def _is_known(columns: dict[str, Column], name: str, row: int) -> bool:
    field = GAPS if name.startswith(f"{GAPS}.") else name
    return columns[field][row] is not None


def _lost_by_recorder(m: StepRows) -> Mask:
    """Rows of which the recorder's word, that events were or may be lost, must be believed.

    Nsys says of nearly every recording that events may be missing. Where each launch of a step has
    its operation, and each operation of the process its call, nothing in the rows bears that out.
    """
    told = [d for d in m.trace.info.diagnostics if d.loss is not None]
    process = np.array([r.process for r in m.ranges], np.int64)[m.owned.step]
    lost: Mask = np.zeros(m.rows, bool)
    if not told:
        return lost
    launches = m.step_launches + m.unlisted + m.unnamed
    complete = (launches > 0) & (m.lost_of_step == 0) & (m.hidden == 0)
    for number in np.unique(process).tolist():
        pid = m.trace.processes[number].pid
        mine = process == number
        about = {d.loss for d in told if d.is_about(pid)}
        if "certain" in about:
            lost |= mine
        elif about:
            lost |= mine & (~complete | _has_orphans(m.trace, number))
    return lost


def _has_orphans(trace: Trace, process: int) -> bool:
    """Whether operations of a process have no call, although calls were being recorded."""
    ops = trace.ops
    mine = ops.process == process
    linked = np.flatnonzero(mine & (ops.api_row >= 0))
    if linked.size == 0:
        return False
    alone = mine & (ops.api_row < 0)
    alone[: linked[0]] = False  # submitted before the recording began
    moved = trace.copies.direction == CopyDirection.MIGRATION
    alone[trace.copies.op_row[moved]] = False
    return bool(alone.any())
