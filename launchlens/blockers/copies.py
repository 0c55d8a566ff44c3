"""Copies between host and device that the calls of steps made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from launchlens.blockers.hits import DIRECTIONS, Direction, Hits, call_hits
from launchlens.blockers.view import Rows, View
from launchlens.calls import CallKind
from launchlens.records.columns import CopyDirection

HTOD, DTOH = CopyDirection.HTOD, CopyDirection.DTOH


@dataclass(frozen=True, slots=True)
class Copies:
    """Copies between host and device that calls inside steps made, in API order.

    Graph nodes are left out: they were captured already. ``sync_row`` is the synchronize that
    follows on the same thread before anything else is submitted, -1 without; ``waits`` is true
    for those and for copies whose call waits by itself.
    """

    row: Rows
    step: Rows
    op: Rows
    bytes: Rows
    direction: Rows
    host_kind: npt.NDArray[np.object_]
    sync_row: Rows
    waits: Rows


def find_copies(view: View) -> Copies:
    """Every copy between host and device that the steps' calls submitted."""
    trace = view.trace
    table = trace.copies
    between = (table.direction == HTOD) | (table.direction == DTOH)
    picked = np.flatnonzero(between)
    op = table.op_row[picked].astype(np.int64)
    row = trace.ops.api_row[op].astype(np.int64)
    usable = (row >= 0) & ~trace.ops.is_node[op]
    step = np.where(usable, view.step_of(np.maximum(row, 0)), -1)
    keep = np.flatnonzero(step >= 0)
    keep = keep[np.argsort(row[keep], kind="stable")]
    picked, op, row, step = picked[keep], op[keep], row[keep], step[keep]
    direction = table.direction[picked].astype(np.int64)
    host = np.where(direction == HTOD, table.src_kind[picked], table.dst_kind[picked])
    labels = [table.mem_kinds[k] if k >= 0 else "Unknown" for k in host.tolist()]
    following = view.next_telling(row)
    synced = (following >= 0) & (view.kind[np.maximum(following, 0)] == CallKind.SYNC)
    sync_row = np.where(synced, following, -1)
    return Copies(
        row,
        step,
        op,
        table.bytes[picked],
        direction,
        np.array(labels, dtype=object),
        sync_row,
        (synced | view.blocking[row]).astype(np.int64),
    )


def copy_hits(
    view: View,
    copies: Copies,
    chosen: Rows,
    memory: str,
    confidence: Literal["suspected", "likely"],
    note: str | None = None,
    *,
    errors: tuple[str, ...] | None = None,
) -> Hits:
    """Chosen copies of one direction, and of one kind of host ``memory`` in words, as hits."""
    row = copies.row[chosen]
    direction: Direction = "htod" if copies.direction[chosen[0]] == HTOD else "dtoh"
    hits = call_hits(
        view,
        row,
        copies.step[chosen],
        f"{DIRECTIONS[direction][0]} {memory}",
        confidence,
        note,
        direction=direction,
        until=np.maximum(row, copies.sync_row[chosen]),
    )
    return replace(hits, bytes=copies.bytes[chosen], memory=memory, errors=errors)
