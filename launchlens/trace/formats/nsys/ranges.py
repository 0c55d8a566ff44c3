"""The NVTX ranges of an export as columns."""

from __future__ import annotations

import numpy as np

from launchlens.records.columns import IdColumn, IntColumn, RangeTable, SmallColumn
from launchlens.trace.formats.nsys.names import PROCESS_MASK, Names, Registry
from launchlens.trace.formats.nsys.scan import NULL, Column, Scanned, as_text, scan_table
from launchlens.trace.formats.nsys.schema import NVTX, Schema
from launchlens.trace.interface import TraceFile

RANGE_EVENTS = (59, 60, 70, 71)  # push/pop, start/end, and the same two from NVTXT files
_DOMAIN_CREATE = 75


def read_ranges(
    file: TraceFile, schema: Schema, texts: Names, processes: Registry, threads: Registry
) -> tuple[RangeTable, list[str]]:
    """NVTX push/pop and start/end ranges sorted by thread, then start; and what was left out."""
    empty, small = np.empty(0, np.int64), np.empty(0, np.int32)
    if NVTX not in schema.rows:
        return RangeTable(empty, empty, small, small, small, (), small, ("",), empty), []
    text_id = schema.pick(NVTX, "textId")
    inline = schema.pick(NVTX, "text")
    payloads = [
        c for c in ("int64Value", "uint64Value", "int32Value", "uint32Value") if schema.has(NVTX, c)
    ]
    payload = f"COALESCE({', '.join(payloads)}, NULL)" if payloads else "NULL"
    columns: list[Column] = [("start", "time"), ("end", "time"), ("globalTid", "key")]
    columns += [("eventType", "id"), (schema.pick(NVTX, "domainId"), "int")]
    columns += [(text_id, "key"), (f"CAST({inline} AS BLOB)", "code"), (payload, "int")]
    events = ", ".join(str(e) for e in (*RANGE_EVENTS, _DOMAIN_CREATE))
    table = scan_table(file, schema, NVTX, columns, where=f"eventType IN ({events})")
    start, end = table.take(0), table.take(1)
    if start.size == 0:
        return RangeTable(empty, empty, small, small, small, (), small, ("",), empty), []
    thread = threads.codes(table.take(2), table.values[2])
    event, domain_id = table.take(3), table.take(4)
    domain_id = np.where(domain_id == NULL, 0, domain_id)
    text, distinct = _range_texts(table, texts)
    process_of = [processes.index(t & PROCESS_MASK) for t in threads.values]
    process = np.array([*process_of, -1], np.int32)[thread]  # -1 for rows without a thread
    domain, domains = _domains(event, process, domain_id, text, distinct)
    is_range = event != _DOMAIN_CREATE
    astray = int((is_range & (start == NULL)).sum())
    is_range &= start != NULL
    homeless = int((is_range & (thread < 0)).sum())
    is_range &= thread >= 0
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
        _left_out(unclosed, homeless, astray),
    )


def _left_out(unclosed: int, homeless: int, astray: int) -> list[str]:
    """What is said of ranges that are left out."""
    notes = []
    if unclosed:
        notes.append(f"{unclosed} NVTX ranges never end in this trace; left out.")
    if homeless:
        notes.append(f"{homeless} NVTX ranges name no thread; left out.")
    if astray:
        notes.append(
            f"{astray} NVTX ranges have no start, or one hours away from the recording; left out."
        )
    return notes


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
