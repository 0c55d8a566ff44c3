"""The GPU operations of an export as columns: kernels, copies, memsets, whole graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from launchlens.records.columns import (
    CopyDirection,
    CopyTable,
    IdColumn,
    IntColumn,
    OpKind,
    OpTable,
    SmallColumn,
)
from launchlens.trace.formats.nsys import schema as names
from launchlens.trace.formats.nsys.names import Registry, constant
from launchlens.trace.formats.nsys.scan import NULL, Column, scan_table
from launchlens.trace.formats.nsys.schema import Schema
from launchlens.trace.interface import TraceFile

UNKNOWN_DEVICE = 2**31 - 1
_MIGRATION = 11
"""The copyKind of unified memory's own copies."""
_COLUMNS: dict[str, tuple[str, Any]] = {
    "start": ("start_ns", np.int64),
    "end": ("end_ns", np.int64),
    "kind": ("kind", np.int8),
    "process": ("process", np.int32),
    "device": ("device", np.int32),
    "stream": ("stream_id", np.int32),
    "correlation": ("correlation_id", None),
    "name": ("name", np.int32),
    "node": ("is_node", np.bool_),
}
"""Columns of `OpTable` and their types; None: as narrow as the values allow."""
_NODE = "({0} IS NOT NULL AND {0} <> 0)"
_TABLES = (
    (names.KERNEL, OpKind.KERNEL),
    (names.MEMCPY, OpKind.MEMCPY),
    (names.MEMSET, OpKind.MEMSET),
    (names.GRAPH_TRACE, OpKind.GRAPH),
)
# nsys's own numbers (ENUM_CUDA_MEM_KIND), for exports without that table.
_DIRECTIONS = {
    1: CopyDirection.HTOD,
    2: CopyDirection.DTOH,
    8: CopyDirection.DTOD,
    9: CopyDirection.HTOH,
    10: CopyDirection.PTOP,
    _MIGRATION: CopyDirection.MIGRATION,
    NULL: CopyDirection.NONE,
}
"""Copy directions by nsys's copyKind (ENUM_CUDA_MEMCPY_OPER)."""
MEM_KINDS = {0: "Pageable", 1: "Pinned", 2: "Device", 3: "Array", 4: "Managed", 5: "Device Static"}


@dataclass(slots=True)
class RawOps:
    """GPU operations before they meet their devices (``device`` is nsys's id) and API calls."""

    table: OpTable
    untimed: OpTable
    name_ids: list[object]
    copies: CopyTable


def read_ops(
    file: TraceFile, schema: Schema, processes: Registry, mem_kinds: dict[int, str]
) -> RawOps:
    """KERNEL, MEMCPY, MEMSET and GRAPH_TRACE together, sorted by start.

    Rows of unknown time (a start or an end that is NULL or 0, or an end before the start) are a
    table of their own.
    """
    parts: dict[str, list[npt.NDArray[np.generic]]] = {}
    name_ids: list[object] = []
    copies: list[tuple[IntColumn, IntColumn, IntColumn, IntColumn]] = []
    for table_name, kind in _TABLES:
        if table_name not in schema.rows:
            continue
        label = schema.pick(table_name, "demangledName", "shortName", "mangledName")
        columns: list[Column] = [("start", "time"), ("end", "time"), ("globalPid", "key")]
        device = _span_device(schema) if kind is OpKind.GRAPH else "deviceId"
        columns += [(device, "id"), ("streamId", "id"), ("correlationId", "id")]
        columns += [(_NODE.format(schema.pick(table_name, "graphNodeId")), "id")]
        columns += [(label, "key")] if kind is OpKind.KERNEL else []
        if kind in (OpKind.MEMCPY, OpKind.MEMSET):
            columns += [
                (schema.pick(table_name, c), "int") for c in ("bytes", "copyKind", "srcKind")
            ]
            columns += [(schema.pick(table_name, "dstKind", "memKind"), "int")]
        table = scan_table(file, schema, table_name, columns)
        start = table.take(0)
        name = constant(-1, start.size)
        if kind is OpKind.KERNEL and label != "NULL":
            name, name_ids = table.take(7), table.values[7]
        if kind is OpKind.KERNEL and start.size and int(name.min()) < 0:
            name = np.where(name < 0, len(name_ids), name).astype(np.int32)
            name_ids = [*name_ids, None]
        row: dict[str, npt.NDArray[np.generic]] = {
            "start": start,
            "end": table.take(1),
            "kind": np.full(start.size, kind, np.int8),
            "process": _known(processes.codes(table.take(2), table.values[2]), processes),
            "device": _small(table.take(3)),
            "stream": _small(table.take(4)),
            "correlation": table.take(5),
            "name": name,
            "node": table.take(6) > 0,
        }
        if kind in (OpKind.MEMCPY, OpKind.MEMSET):
            copies.append(tuple(table.take(7 + i) for i in range(4)))  # type: ignore[arg-type]
            migrations = copies[-1][1] == _MIGRATION
            row["correlation"] = np.where(migrations, -1, row["correlation"])
        for key, values in row.items():
            parts.setdefault(key, []).append(values)
    return _joined(parts, name_ids, copies, mem_kinds)


def _span_device(schema: Schema) -> str:
    """SQL for a whole-graph row's device: its own, else that of its context, if it tells."""
    table, contexts = names.GRAPH_TRACE, names.CONTEXTS
    told = schema.has(contexts, "deviceId", "contextId", "processId")
    if not told or not schema.has(table, "contextId"):
        return "deviceId"
    of_context = (
        f"SELECT max(c.deviceId) FROM {contexts} c WHERE c.contextId = {table}.contextId "
        f"AND c.processId = ({table}.globalPid >> 24) & 16777215 "
        "HAVING min(c.deviceId) = max(c.deviceId)"
    )
    return f"CASE WHEN deviceId < {UNKNOWN_DEVICE} THEN deviceId ELSE ({of_context}) END"


def _known(process: SmallColumn, processes: Registry) -> SmallColumn:
    """Rows without a process id belong to process 0, which no system hands out."""
    if not (process < 0).any():
        return process
    return np.where(process < 0, processes.index(0), process).astype(np.int32)


def _small(values: IdColumn) -> SmallColumn:
    """As int32; NULL and what does not fit become `UNKNOWN_DEVICE`."""
    odd = (values < 0) | (values > UNKNOWN_DEVICE)
    if odd.any():
        values = np.where(odd, UNKNOWN_DEVICE, values)
    return values.astype(np.int32, copy=False)


def _joined(
    parts: dict[str, list[npt.NDArray[np.generic]]],
    name_ids: list[object],
    copies: list[tuple[IntColumn, IntColumn, IntColumn, IntColumn]],
    mem_kinds: dict[int, str],
) -> RawOps:
    def column(key: str, dtype: npt.DTypeLike) -> npt.NDArray[np.generic]:
        arrays = parts.pop(key, [])
        if not arrays:
            return np.empty(0, dtype)
        return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)

    kind = column("kind", np.int8)
    start = column("start", np.int64).astype(np.int64, copy=False)
    end = column("end", np.int64).astype(np.int64, copy=False)
    # NULL is the smallest integer, so that an end that is NULL lies before any start. Times before
    # the recording's zero are negative; only then is an end of 0 a time.
    keep = (start != NULL) & (start != 0) & (end >= start)
    order = np.argsort(start, kind="stable")
    unknown = np.empty(0, np.int64)
    if not keep.all():
        order, unknown = order[keep[order]], np.flatnonzero(~keep)
    copy_table = _copy_table(kind, order, copies, mem_kinds)
    parts["start"], parts["end"], parts["kind"] = [start], [end], [kind]
    timed: dict[str, Any] = {"api_row": constant(-1, order.size)}
    untimed: dict[str, Any] = {"api_row": constant(-1, unknown.size)}
    for key, (field, dtype) in _COLUMNS.items():
        values = column(key, dtype or np.int64)
        for rows, table in ((order, timed), (unknown, untimed)):
            picked = values[rows]
            table[field] = picked if dtype is None else picked.astype(dtype, copy=False)
    return RawOps(OpTable(**timed), OpTable(**untimed), name_ids, copy_table)


def _copy_table(
    kind: npt.NDArray[np.generic],
    order: npt.NDArray[np.int64],
    copies: list[tuple[IntColumn, IntColumn, IntColumn, IntColumn]],
    mem_kinds: dict[int, str],
) -> CopyTable:
    is_copy = (kind == OpKind.MEMCPY) | (kind == OpKind.MEMSET)
    empty = np.empty(0, np.int64)
    size, copy_kind, src, dst = (
        np.concatenate([c[i] for c in copies]) if copies else empty for i in range(4)
    )
    rank = np.cumsum(is_copy) - 1
    rows = np.flatnonzero(is_copy[order])
    pick = rank[order[rows]] if rows.size else np.empty(0, np.int64)
    labels = tuple(mem_kinds.values())
    code_of = {number: code for code, number in enumerate(mem_kinds)}

    def labelled(values: IntColumn) -> SmallColumn:
        distinct, inverse = np.unique(values, return_inverse=True)
        table = np.array([code_of.get(v, -1) for v in distinct.tolist()], np.int32)
        return table[inverse] if distinct.size else np.empty(0, np.int32)

    return CopyTable(
        rows.astype(np.int32),
        size[pick],
        _directions(copy_kind[pick]),
        labelled(src[pick]),
        labelled(dst[pick]),
        labels,
    )


def _directions(copy_kind: IntColumn) -> npt.NDArray[np.int8]:
    direction = np.full(copy_kind.size, CopyDirection.OTHER, np.int8)
    for number, meant in _DIRECTIONS.items():
        direction[copy_kind == number] = meant
    return direction
