"""What a rule finds: occurrences as columns, before they are grouped into findings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from launchlens.blockers.view import Rows, View
from launchlens.calls import CallKind
from launchlens.records.columns import CopyDirection, Trace

HTOD, DTOH = CopyDirection.HTOD, CopyDirection.DTOH


@dataclass(frozen=True, slots=True)
class Hits:
    """Occurrences of one rule and one kind in the steps of a view.

    Attributes:
        kinds: what the occurrences are ("HtoD pageable", "cudaMalloc").
        step: step of each occurrence, shape (n,).
        row: its API row; for copies the copy call, shape (n,).
        host_ns: how long the thread sat in it, shape (n,).
        idle_ns: GPU idle until the work submitted next began, shape (n,); -1 not known.
        bytes: bytes copied, shape (n,); -1 where nothing is copied.
        confidence: "suspected" or "likely".
        note: what the reader should know of these occurrences.
        counted: False where an occurrence stands for the whole step, so that host and idle time
            are not told.
    """

    kinds: str
    step: Rows
    row: Rows
    host_ns: Rows
    idle_ns: Rows
    bytes: Rows
    confidence: str = "likely"
    note: str | None = None
    counted: bool = True


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: how its findings are named and found. The module's docstring documents it."""

    id: str
    strength: str
    remedy: str
    title: Callable[[Hits, int | None], str]
    find: Callable[[View], list[Hits]]
    doc: str = field(repr=False, default="")


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
    host_kind: tuple[str, ...]
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
    labels = tuple(table.mem_kinds[k] if k >= 0 else "Unknown" for k in host.tolist())
    following = view.next_telling(row)
    synced = (following >= 0) & (view.kind[np.maximum(following, 0)] == CallKind.SYNC)
    sync_row = np.where(synced, following, -1)
    return Copies(
        row,
        step,
        op,
        table.bytes[picked],
        direction,
        labels,
        sync_row,
        (synced | view.blocking[row]).astype(np.int64),
    )


def copy_hits(
    view: View, copies: Copies, chosen: Rows, kinds: str, confidence: str, note: str | None = None
) -> Hits:
    """Chosen copies as hits: host time in copy and following synchronize, idle time after it."""
    api = view.trace.api
    row, step = copies.row[chosen], copies.step[chosen]
    until = np.maximum(row, copies.sync_row[chosen])
    return Hits(
        kinds=kinds,
        step=step,
        row=row,
        host_ns=_inside_calls(view.trace, row, until),
        idle_ns=idle_after(view, until, step, api.start_ns[row]),
        bytes=copies.bytes[chosen],
        confidence=confidence,
        note=note,
    )


def call_hits(
    view: View, rows: Rows, step: Rows, kinds: str, confidence: str, note: str | None = None
) -> Hits:
    """API calls as hits, without bytes."""
    api = view.trace.api
    return Hits(
        kinds=kinds,
        step=step,
        row=rows,
        host_ns=api.end_ns[rows] - api.start_ns[rows],
        idle_ns=idle_after(view, rows, step, api.start_ns[rows]),
        bytes=np.full(rows.size, -1, np.int64),
        confidence=confidence,
        note=note,
    )


def without_times(hits: Hits) -> Hits:
    """Hits of another thread: the step's own thread did not sit in them."""
    return replace(hits, counted=False)


def idle_after(view: View, rows: Rows, step: Rows, since_ns: Rows) -> Rows:
    """GPU idle ended by the work submitted next after each call.

    The gap in front of that work on its device, counted from the moment the wait began at the
    earliest. 0 when the GPU had other work throughout, -1 when nothing was submitted afterwards.
    """
    following = view.next_submission(rows, step)
    op = np.where(following >= 0, view.op_of_call[np.maximum(following, 0)], -1)
    start = view.trace.ops.start_ns
    before = view.busy_before
    safe = np.maximum(op, 0)
    if start.size == 0:
        return np.full(rows.size, -1, np.int64)
    gap = start[safe] - np.maximum(before[safe], since_ns)
    return np.where(op >= 0, np.maximum(gap, 0), -1)


def _inside_calls(trace: Trace, first: Rows, second: Rows) -> Rows:
    """Time inside two calls of a thread (the copy and the synchronize), not between them."""
    api = trace.api
    total = api.end_ns[first] - api.start_ns[first]
    return total + np.where(second != first, api.end_ns[second] - api.start_ns[second], 0)
