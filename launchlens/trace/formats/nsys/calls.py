"""The CUDA API calls of an export as columns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from launchlens.records.columns import ApiTable, IdColumn, IntColumn, SmallColumn
from launchlens.trace.formats.nsys.names import PROCESS_MASK, Names, Registry, constant
from launchlens.trace.formats.nsys.scan import NULL, Column, scan_table
from launchlens.trace.formats.nsys.schema import RUNTIME, Schema
from launchlens.trace.interface import TraceFile


def read_api(
    file: TraceFile, schema: Schema, texts: Names, processes: Registry, threads: Registry
) -> ApiTable:
    """CUPTI_ACTIVITY_KIND_RUNTIME, sorted by thread, then start; rows of unknown time dropped."""
    if RUNTIME not in schema.rows:
        empty, small = np.empty(0, np.int64), np.empty(0, np.int32)
        return ApiTable(empty, empty, small, small, empty, small, (), small)
    chain = schema.pick(RUNTIME, "callchainId")
    columns: list[Column] = [("start", "int"), ("end", "int"), ("globalTid", "key")]
    columns += [("correlationId", "id"), ("nameId", "key"), (chain, "id")]
    table = scan_table(file, schema, RUNTIME, columns)
    start, end = table.take(0), table.take(1)
    thread = threads.codes(table.take(2), table.values[2])
    correlation: IdColumn = table.take(3)
    name, name_ids = table.take(4), table.values[4]
    callchain: IdColumn = table.take(5)
    if callchain.size and int(callchain.max()) < 0:
        callchain = constant(-1, start.size)
    keep = (start != NULL) & (end != NULL) & ((start != 0) | (end != 0)) & (thread >= 0)
    order = _thread_order(start, thread, keep)
    if order is not None:
        start, end, thread = start[order], end[order], thread[order]
        correlation, name = correlation[order], name[order]
        callchain = callchain[order] if callchain.strides != (0,) else constant(-1, start.size)
    process_of = np.array([processes.index(t & PROCESS_MASK) for t in threads.values], np.int32)
    one = len(set(process_of.tolist())) == 1
    process = constant(int(process_of[0]), start.size) if one else process_of[thread]
    return ApiTable(start, end, process, thread, correlation, name, texts.text(name_ids), callchain)


def _thread_order(
    start: IntColumn, thread: SmallColumn, keep: npt.NDArray[np.bool_]
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
