"""The export's big tables as columns: API calls, GPU operations, NVTX ranges."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from launchlens.records.columns import (
    ApiTable,
    CopyDirection,
    CopyTable,
    IdColumn,
    IntColumn,
    OpKind,
    RangeTable,
    SmallColumn,
)
from launchlens.trace import schema as names
from launchlens.trace.scan import NULL, Column, Scanned, as_text, scan_table
from launchlens.trace.schema import Schema

PID_MASK = ~0xFFFFFF
_RANGE_EVENTS = (59, 60, 70, 71)  # push/pop, start/end, and the same two from NVTXT files
_DOMAIN_CREATE = 75
_UNKNOWN_DEVICE = 2**31 - 1
_NODE = "({0} IS NOT NULL AND {0} <> 0)"
OP_TABLES = (
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
    NULL: CopyDirection.NONE,
}
"""Copy directions by nsys's copyKind (ENUM_CUDA_MEMCPY_OPER)."""
MEM_KINDS = {0: "Pageable", 1: "Pinned", 2: "Device", 3: "Array", 4: "Managed", 5: "Device Static"}


class Registry:
    """Numbers things by the order of their first sight (processes, threads)."""

    def __init__(self) -> None:
        self.values: list[int] = []
        self._index: dict[int, int] = {}

    def codes(self, codes: SmallColumn, distinct: list[object]) -> SmallColumn:
        """Translate dictionary codes into this registry's numbers; NULL stays -1."""
        table = np.empty(len(distinct) + 1, np.int32)
        table[-1] = -1
        for i, value in enumerate(distinct):
            assert isinstance(value, int)  # a "key" column
            table[i] = self.index(value)
        return table[codes]

    def index(self, value: int) -> int:
        """The number of one value, a new one at first sight."""
        if value not in self._index:
            self._index[value] = len(self.values)
            self.values.append(value)
        return self._index[value]


@dataclass(slots=True)
class Names:
    """StringIds of the export, looked up by id; the text of unknown ids says so."""

    ids: npt.NDArray[np.int64]
    texts: list[object]

    def text(self, ids: list[object]) -> tuple[str, ...]:
        """Texts of these ids, in order."""
        wanted = np.array([NULL if i is None else i for i in ids], np.int64)
        if self.ids.size == 0:
            return tuple("" if i is None else f"<string {i}>" for i in ids)
        at = np.clip(np.searchsorted(self.ids, wanted), 0, self.ids.size - 1)
        found = self.ids[at] == wanted
        return tuple(
            as_text(self.texts[k]) if ok else "" if i is None else f"<string {i}>"
            for i, k, ok in zip(ids, at.tolist(), found.tolist(), strict=True)
        )


def read_names(path: Path, schema: Schema, *, named: Path) -> Names:
    """Table StringIds; texts stay bytes until they are asked for."""
    if names.STRINGS not in schema.rows:
        return Names(np.empty(0, np.int64), [])
    columns: list[Column] = [("id", "int"), ("CAST(value AS BLOB)", "code")]
    table = scan_table(path, schema, names.STRINGS, columns, named=named)
    ids, code = table.take(0), table.take(1)
    order = np.argsort(ids, kind="stable")
    texts = [*table.values[1], None]
    return Names(ids[order], [texts[i] for i in code[order].tolist()])


def constant(value: int, size: int) -> SmallColumn:
    """A column of one value that takes no memory."""
    return np.broadcast_to(np.int32(value), (size,))


def read_api(
    path: Path, schema: Schema, texts: Names, processes: Registry, threads: Registry, *, named: Path
) -> ApiTable:
    """CUPTI_ACTIVITY_KIND_RUNTIME, sorted by thread, then start; rows of unknown time dropped."""
    if names.RUNTIME not in schema.rows:
        empty, small = np.empty(0, np.int64), np.empty(0, np.int32)
        return ApiTable(empty, empty, small, small, empty, small, (), small)
    chain = schema.pick(names.RUNTIME, "callchainId")
    columns: list[Column] = [("start", "int"), ("end", "int"), ("globalTid", "key")]
    columns += [("correlationId", "id"), ("nameId", "key"), (chain, "id")]
    table = scan_table(path, schema, names.RUNTIME, columns, named=named)
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
    pid_of = np.array([processes.index(t & PID_MASK) for t in threads.values], np.int32)
    one = len(set(pid_of.tolist())) == 1
    process = constant(int(pid_of[0]), start.size) if one else pid_of[thread]
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


@dataclass(slots=True)
class RawOps:
    """GPU operations of all tables, in start order, before they meet their API calls."""

    start_ns: IntColumn
    end_ns: IntColumn
    kind: npt.NDArray[np.int8]
    process: SmallColumn
    device_id: SmallColumn
    stream_id: SmallColumn
    correlation_id: IdColumn
    name: SmallColumn
    name_ids: list[object]
    is_node: npt.NDArray[np.bool_]
    copies: CopyTable
    dropped: int


def read_ops(
    path: Path, schema: Schema, processes: Registry, *, named: Path, mem_kinds: dict[int, str]
) -> RawOps:
    """KERNEL, MEMCPY, MEMSET and GRAPH_TRACE together, sorted by start.

    Rows of unknown time (start = end = 0, or NULL) are dropped and counted.
    """
    parts: dict[str, list[npt.NDArray[np.generic]]] = {}
    name_ids: list[object] = []
    copies: list[tuple[IntColumn, IntColumn, IntColumn, IntColumn]] = []
    for table_name, kind in OP_TABLES:
        if table_name not in schema.rows:
            continue
        label = schema.pick(table_name, "demangledName", "shortName", "mangledName")
        columns: list[Column] = [("start", "int"), ("end", "int"), ("globalPid", "key")]
        device = _span_device(schema) if kind is OpKind.GRAPH else "deviceId"
        columns += [(device, "id"), ("streamId", "id"), ("correlationId", "id")]
        columns += [(_NODE.format(schema.pick(table_name, "graphNodeId")), "id")]
        columns += [(label, "key")] if kind is OpKind.KERNEL else []
        if kind in (OpKind.MEMCPY, OpKind.MEMSET):
            columns += [
                (schema.pick(table_name, c), "int") for c in ("bytes", "copyKind", "srcKind")
            ]
            columns += [(schema.pick(table_name, "dstKind", "memKind"), "int")]
        table = scan_table(path, schema, table_name, columns, named=named)
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
        for key, values in row.items():
            parts.setdefault(key, []).append(values)
        if kind in (OpKind.MEMCPY, OpKind.MEMSET):
            copies.append(tuple(table.take(7 + i) for i in range(4)))  # type: ignore[arg-type]
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
    return f"CASE WHEN deviceId < {_UNKNOWN_DEVICE} THEN deviceId ELSE ({of_context}) END"


def _known(process: SmallColumn, processes: Registry) -> SmallColumn:
    """Rows without a process id belong to process 0, which no system hands out."""
    if not (process < 0).any():
        return process
    return np.where(process < 0, processes.index(0), process).astype(np.int32)


def _small(values: IdColumn) -> SmallColumn:
    """As int32; NULL and what does not fit become `_UNKNOWN_DEVICE`."""
    odd = (values < 0) | (values > _UNKNOWN_DEVICE)
    if odd.any():
        values = np.where(odd, _UNKNOWN_DEVICE, values)
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
    start, end = column("start", np.int64), column("end", np.int64)
    keep = (start != NULL) & (end != NULL) & ((start != 0) | (end != 0))
    dropped = int(kind.size - keep.sum())
    order = np.argsort(start, kind="stable")
    if dropped:
        order = order[keep[order]]

    def arranged(key: str, dtype: npt.DTypeLike) -> npt.NDArray[np.generic]:
        return column(key, dtype)[order]

    table = _copy_table(kind, order, copies, mem_kinds)
    return RawOps(
        start[order].astype(np.int64, copy=False),
        end[order].astype(np.int64, copy=False),
        kind[order].astype(np.int8, copy=False),
        arranged("process", np.int32).astype(np.int32, copy=False),
        arranged("device", np.int32).astype(np.int32, copy=False),
        arranged("stream", np.int32).astype(np.int32, copy=False),
        arranged("correlation", np.int64),  # type: ignore[arg-type]
        arranged("name", np.int32).astype(np.int32, copy=False),
        name_ids,
        arranged("node", np.bool_).astype(np.bool_, copy=False),
        table,
        dropped,
    )


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


def read_ranges(
    path: Path, schema: Schema, texts: Names, processes: Registry, threads: Registry, *, named: Path
) -> tuple[RangeTable, int]:
    """NVTX push/pop and start/end ranges sorted by thread, then start; and how many never end."""
    empty, small = np.empty(0, np.int64), np.empty(0, np.int32)
    if names.NVTX not in schema.rows:
        return RangeTable(empty, empty, small, small, small, (), small, ("",), empty), 0
    text_id = schema.pick(names.NVTX, "textId")
    inline = schema.pick(names.NVTX, "text")
    payloads = [
        c
        for c in ("int64Value", "uint64Value", "int32Value", "uint32Value")
        if schema.has(names.NVTX, c)
    ]
    payload = f"COALESCE({', '.join(payloads)}, NULL)" if payloads else "NULL"
    columns: list[Column] = [("start", "int"), ("end", "int"), ("globalTid", "key")]
    columns += [("eventType", "id"), (schema.pick(names.NVTX, "domainId"), "int")]
    columns += [(text_id, "key"), (f"CAST({inline} AS BLOB)", "code"), (payload, "int")]
    events = ", ".join(str(e) for e in (*_RANGE_EVENTS, _DOMAIN_CREATE))
    table = scan_table(
        path, schema, names.NVTX, columns, named=named, where=f"eventType IN ({events})"
    )
    start, end = table.take(0), table.take(1)
    if start.size == 0:
        return RangeTable(empty, empty, small, small, small, (), small, ("",), empty), 0
    thread = threads.codes(table.take(2), table.values[2])
    event, domain_id = table.take(3), table.take(4)
    domain_id = np.where(domain_id == NULL, 0, domain_id)
    text, distinct = _range_texts(table, texts)
    pid_of = np.array([processes.index(t & PID_MASK) for t in threads.values], np.int32)
    process = pid_of[thread]
    domain, domains = _domains(event, process, domain_id, text, distinct)
    is_range = (event != _DOMAIN_CREATE) & (start != NULL) & (thread >= 0)
    unclosed = int((is_range & (end == NULL)).sum())
    keep = np.flatnonzero(is_range & (end != NULL))
    keep = keep[np.lexsort((start[keep], thread[keep]))]
    return (
        RangeTable(
            start[keep],
            end[keep],
            process[keep],
            thread[keep],
            text[keep],
            distinct,
            domain[keep],
            domains,
            table.take(7)[keep],
        ),
        unclosed,
    )


def _range_texts(table: Scanned, texts: Names) -> tuple[SmallColumn, tuple[str, ...]]:
    """Inline text where there is one, else the registered string (never one without the other)."""
    ids, id_values = table.take(5), table.values[5]
    inline, inline_values = table.take(6), table.values[6]
    registered = texts.text(id_values)
    distinct = [*(as_text(v) for v in inline_values), *registered, ""]
    code = np.where(
        inline >= 0, inline, np.where(ids >= 0, ids + len(inline_values), len(distinct) - 1)
    )
    return code.astype(np.int32), tuple(distinct)


def _domains(
    event: IdColumn,
    process: SmallColumn,
    domain_id: IntColumn,
    text: SmallColumn,
    texts: tuple[str, ...],
) -> tuple[SmallColumn, tuple[str, ...]]:
    """Domain names by (process, domain id); a domain's number means nothing in another process."""
    created = np.flatnonzero(event == _DOMAIN_CREATE)
    label = {(int(process[i]), int(domain_id[i])): texts[int(text[i])] for i in created.tolist()}
    key = process.astype(np.int64) * (1 << 40) + domain_id
    distinct, inverse = np.unique(key, return_inverse=True)
    found = [
        "" if k % (1 << 40) == 0 else label.get((k >> 40, k % (1 << 40)), f"domain {k % (1 << 40)}")
        for k in distinct.tolist()
    ]
    order = list(dict.fromkeys(found))
    table = np.array([order.index(name) for name in found], np.int32)
    return table[inverse], tuple(order)
