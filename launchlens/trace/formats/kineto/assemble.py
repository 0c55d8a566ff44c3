"""Gathered events as the columns of a `Trace`: sorted, with numbers for threads and devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from launchlens.calls import CallKind
from launchlens.calls.kinds import call_kind
from launchlens.records.columns import (
    ApiTable,
    CopyTable,
    OpKind,
    OpTable,
    RangeTable,
    SmallColumn,
)
from launchlens.trace.formats.kineto.columns import NO_TIME, Texts
from launchlens.trace.formats.kineto.naming import copy_table
from launchlens.trace.formats.kineto.owners import Owners
from launchlens.trace.link import link_operations

Columns = dict[str, npt.NDArray[Any]]
NO_NAME = "<no name>"
"""Stands for the name of a call that the trace does not tell (`CallKind.UNNAMED`)."""
HAS_STACK = 0
"""`ApiTable.callchain_id` of all calls where the trace has Python functions or operators."""


def api_table(calls: Columns, texts: Texts, owners: Owners, *, stacks: bool) -> ApiTable:
    """Calls with a thread and a time, by thread, then start."""
    thread = owners.thread_of(calls["pid"], calls["tid"])
    start, end = calls["start"], calls["end"]
    keep = np.flatnonzero((thread >= 0) & (start != NO_TIME) & (end >= start))
    order = keep[np.lexsort((start[keep], thread[keep]))]
    thread = thread[order]
    chain = np.broadcast_to(np.int32(HAS_STACK if stacks else -1), order.shape)
    return ApiTable(
        start[order],
        end[order],
        owners.process_of(thread),
        thread,
        calls["correlation"][order],
        calls["name"][order],
        tuple(name or NO_NAME for name in texts.cleaned()),
        chain,
    )


def op_tables(
    ops: Columns, texts: Texts, process: SmallColumn, api: ApiTable
) -> tuple[OpTable, OpTable, CopyTable, tuple[int, ...], int]:
    """Operations by start, those without a time, what copies have, and the GPUs' numbers.

    Also returns how many correlation ids were used again.
    """
    gpus, device = np.unique(ops["device"], return_inverse=True)
    start, end = ops["start"], ops["end"]
    timed = (start != NO_TIME) & (end >= start)
    order = np.argsort(start, kind="stable")
    order = order[timed[order]]
    reused = 0
    tables = []
    for rows in (order, np.flatnonzero(~timed)):
        kind = ops["kind"][rows]
        correlation = ops["correlation"][rows]
        first = start[rows] if rows is order else None
        row, again = link_operations(api, process[rows], correlation, first)
        reused += again if rows is order else 0
        tables.append(
            OpTable(
                start[rows],
                end[rows],
                kind,
                process[rows],
                device[rows].astype(np.int32),
                _small(ops["stream"][rows]),
                correlation,
                np.where(kind == OpKind.KERNEL, ops["name"][rows], -1).astype(np.int32),
                (ops["is_node"][rows] > 0) | _of_graphs(api, row),
                row,
            )
        )
    is_copy = tables[0].kind != OpKind.KERNEL
    copies = order[is_copy]
    copied = copy_table(
        np.flatnonzero(is_copy), ops["bytes"][copies], ops["name"][copies], texts.cleaned()
    )
    return tables[0], tables[1], copied, tuple(gpus.tolist()), reused


def _of_graphs(api: ApiTable, row: SmallColumn) -> npt.NDArray[np.bool_]:
    """Whether each operation was submitted by a graph launch: older traces number no nodes."""
    launches = np.array([call_kind(name) is CallKind.GRAPH for name in api.names] or [False])
    if api.name.size == 0:
        return np.zeros(row.size, bool)
    of_graph: npt.NDArray[np.bool_] = (row >= 0) & launches[api.name[np.maximum(row, 0)]]
    return of_graph


def range_table(ranges: Columns, texts: Texts, owners: Owners) -> tuple[RangeTable, int]:
    """Annotations with a thread and an end, by thread, then start; and how many have none."""
    thread = owners.thread_of(ranges["pid"], ranges["tid"])
    start, end = ranges["start"], ranges["end"]
    keep = np.flatnonzero((thread >= 0) & (start != NO_TIME) & (end >= start))
    order = keep[np.lexsort((start[keep], thread[keep]))]
    thread = thread[order]
    table = RangeTable(
        start[order],
        end[order],
        owners.process_of(thread),
        thread,
        ranges["name"][order],
        texts.cleaned(),
        np.zeros(order.size, np.int32),
        ("",),
        np.full(order.size, np.iinfo(np.int64).min),
    )
    return table, int(start.size - keep.size)


def _small(values: npt.NDArray[np.int64]) -> SmallColumn:
    """As int32, -1 for what does not fit."""
    odd = (values < 0) | (values >= 2**31)
    return np.where(odd, -1, values).astype(np.int32)
