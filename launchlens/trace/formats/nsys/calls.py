"""The CUDA API calls of an export as columns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from launchlens.records.columns import ApiTable, BoolColumn, IdColumn, IntColumn, SmallColumn
from launchlens.trace.formats.nsys.names import PROCESS_MASK, Names, Registry, constant
from launchlens.trace.formats.nsys.scan import NULL, Column, scan_table
from launchlens.trace.formats.nsys.schema import RUNTIME, Schema
from launchlens.trace.formats.nsys.twins import merge_twins
from launchlens.trace.interface import TraceFile

NO_NAME = "<no name>"
"""Stands for the name of a call that the trace does not tell (`CallKind.UNNAMED`)."""


def read_api(
    file: TraceFile, schema: Schema, texts: Names, processes: Registry, threads: Registry
) -> tuple[ApiTable, int]:
    """CUPTI_ACTIVITY_KIND_RUNTIME, sorted by thread, then start, what is there twice merged.

    Returns:
        The calls, and how many were left out since they name no thread or no time.
    """
    if RUNTIME not in schema.rows:
        empty, small = np.empty(0, np.int64), np.empty(0, np.int32)
        return ApiTable(empty, empty, small, small, empty, small, (), small), 0
    chain = schema.pick(RUNTIME, "callchainId")
    result = f"COALESCE({schema.pick(RUNTIME, 'returnValue')}, 0)"
    columns: list[Column] = [("start", "time"), ("end", "time"), ("globalTid", "key")]
    columns += [("correlationId", "id"), ("nameId", "key"), (chain, "id"), (result, "id")]
    table = scan_table(file, schema, RUNTIME, columns)
    start, end = table.take(0), table.take(1)
    # Threads of a process are numbered one after the other, so that its calls are neighbours.
    for thread_id in sorted(t for t in table.values[2] if isinstance(t, int)):
        threads.index(thread_id)
    thread = threads.codes(table.take(2), table.values[2])
    correlation: IdColumn = table.take(3)
    name, names = _named(table.take(4), table.values[4], texts)
    callchain, returned = table.take(5), table.take(6)
    if callchain.size and int(callchain.max()) < 0:
        callchain = constant(-1, start.size)
    if not returned.any():
        returned = constant(0, start.size)
    keep = (start != NULL) & (end >= start) & ((start != 0) | (end != 0)) & (thread >= 0)
    order = _thread_order(start, thread, keep)
    if order is not None:
        start, end, thread = start[order], end[order], thread[order]
        correlation, name = correlation[order], name[order]
        callchain, returned = _arranged(callchain, order), _arranged(returned, order)
    process_of = np.array([processes.index(t & PROCESS_MASK) for t in threads.values], np.int32)
    one = len(set(process_of.tolist())) == 1
    process = constant(int(process_of[0]), start.size) if one else process_of[thread]
    api = ApiTable(
        start,
        end,
        process,
        thread,
        correlation,
        name,
        names,
        callchain,
        returned if returned.strides != (0,) else None,
    )
    return merge_twins(api), int(keep.size - start.size)


def _named(
    codes: SmallColumn, ids: list[object], texts: Names
) -> tuple[SmallColumn, tuple[str, ...]]:
    """Names, in angle brackets for calls without one, and which of them each call has."""
    names = tuple(text or NO_NAME for text in texts.text(ids))
    if codes.size and int(codes.min()) < 0:
        codes = np.where(codes < 0, len(names), codes).astype(np.int32)
        names = (*names, NO_NAME)
    return codes, names


def _arranged(values: IdColumn, order: npt.NDArray[np.int64]) -> IdColumn:
    """The rows in this order; a column of one value stays without memory."""
    if values.strides == (0,) and values.size:
        return constant(int(values[0]), order.size)
    return values[order]


def _thread_order(
    start: IntColumn, thread: SmallColumn, keep: BoolColumn
) -> npt.NDArray[np.int64] | None:
    """Row order by (thread, start), or None where the rows are kept and in order already."""
    ascending = (thread[1:] > thread[:-1]) | (
        (thread[1:] == thread[:-1]) & (start[1:] >= start[:-1])
    )
    if keep.all() and ascending.all():
        return None
    order = np.argsort(start, kind="stable")
    if thread.size and int(thread.max()) > 0:
        order = order[np.argsort(thread[order], kind="stable")]
    return order if keep.all() else order[keep[order]]
