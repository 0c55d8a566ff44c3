"""Cuts an export to some of its steps, with all that their figures need.

What happened in the span of the steps stays, of every thread and process; and, whenever they
happened: operations of calls in the span, calls of operations in the span, and the calls that
begin or end a capture. Ranges stay only on the threads of the steps, in a step or around it.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left, bisect_right

from launchlens.trace.formats.nsys.names import PROCESS_MASK
from launchlens.trace.formats.nsys.private import quoted
from launchlens.trace.formats.nsys.ranges import RANGE_EVENTS
from launchlens.trace.formats.nsys.schema import (
    GRAPH_TRACE,
    KERNEL,
    MEMCPY,
    MEMSET,
    NVTX,
    RUNTIME,
    STRINGS,
)
from launchlens.trace.interface import Excerpt

_OPERATIONS = (KERNEL, MEMCPY, MEMSET, GRAPH_TRACE)
_MARK = 34
# Facts of the whole recording, although their rows carry times.
_WHOLE = ("PROFILER_OVERHEAD", "DIAGNOSTIC_EVENT")
_CHAINS = (
    ("CUDA_CALLCHAINS", RUNTIME, "callchainId"),
    ("OSRT_CALLCHAINS", "OSRT_API", "callchainId"),
    ("SAMPLING_CALLCHAINS", "COMPOSITE_EVENTS", "id"),
)
_OP_KEY = "globalPid, correlationId"
_CALL_KEY = f"globalTid & {PROCESS_MASK}, correlationId"


def cut_export(
    connection: sqlite3.Connection, columns: dict[str, list[str]], excerpt: Excerpt
) -> None:
    """Delete what lies outside of some steps, in a copy of an export."""
    span = (excerpt.end_ns, excerpt.start_ns)
    _cut_calls_and_operations(connection, columns, excerpt)
    if NVTX in columns:
        _cut_ranges(connection, columns, excerpt)
    for table, names in columns.items():
        if table in (RUNTIME, NVTX, *_OPERATIONS, *_WHOLE):
            continue
        if {"start", "end"} <= set(names):
            when = "start > ? OR end < ?"
        elif "start" in names or "timestamp" in names:
            column = "start" if "start" in names else "timestamp"
            when = f"{column} > ? OR {column} < ?"
        else:
            continue
        connection.execute(f"DELETE FROM {quoted(table)} WHERE {when}", span)
    for table, owner, column in _CHAINS:
        if "id" in columns.get(table, ()) and column in columns.get(owner, ()):
            connection.execute(
                f"DELETE FROM {table} WHERE id NOT IN "
                f"(SELECT {column} FROM {owner} WHERE {column} IS NOT NULL)"
            )


def _cut_calls_and_operations(
    connection: sqlite3.Connection, columns: dict[str, list[str]], excerpt: Excerpt
) -> None:
    inside = f"(start <= {excerpt.end_ns} AND end >= {excerpt.start_ns})"
    late = f"(start >= {excerpt.start_ns} OR COALESCE(start, 0) = 0)"
    for name in ("calls_inside", "operations_inside"):
        connection.execute(
            f"CREATE TEMP TABLE {name} "
            "(pid INTEGER, id INTEGER, PRIMARY KEY (pid, id)) WITHOUT ROWID"
        )
    if RUNTIME in columns:
        connection.execute(
            f"INSERT OR IGNORE INTO calls_inside SELECT {_CALL_KEY} FROM {RUNTIME} WHERE {inside} "
            "AND globalTid IS NOT NULL AND correlationId IS NOT NULL"
        )
    for table in _OPERATIONS:
        if table in columns:
            connection.execute(
                f"INSERT OR IGNORE INTO operations_inside SELECT {_OP_KEY} FROM {table} "
                f"WHERE {inside} AND globalPid IS NOT NULL AND correlationId IS NOT NULL"
            )
            connection.execute(
                f"DELETE FROM {table} WHERE {inside} IS NOT TRUE AND NOT ({late} AND EXISTS "
                f"(SELECT 1 FROM calls_inside WHERE (pid, id) = ({_OP_KEY})))"
            )
    if RUNTIME in columns:
        connection.execute(
            f"DELETE FROM {RUNTIME} WHERE {inside} IS NOT TRUE AND NOT EXISTS "
            f"(SELECT 1 FROM operations_inside WHERE (pid, id) = ({_CALL_KEY})) "
            f"AND nameId NOT IN (SELECT id FROM {STRINGS} WHERE value LIKE '%StreamBeginCapture%' "
            "OR value LIKE '%StreamEndCapture%')"
        )


def _cut_ranges(
    connection: sqlite3.Connection, columns: dict[str, list[str]], excerpt: Excerpt
) -> None:
    """Keep ranges in and around the steps; marks and payloads by time; domains in any case."""
    payload = "binaryData IS NOT NULL" if "binaryData" in columns[NVTX] else "0"
    events = ", ".join(map(str, (_MARK, *RANGE_EVENTS)))
    rows = connection.execute(
        f"SELECT rowid, start, end, globalTid, eventType = {_MARK} OR {payload} FROM {NVTX} "
        f"WHERE eventType IN ({events})"
    )
    steps = _by_thread(excerpt)
    gone = []
    for row, start, end, thread, by_time in rows:
        if not isinstance(start, int):
            gone.append((row,))
        elif by_time:
            if not excerpt.start_ns <= start <= excerpt.end_ns:
                gone.append((row,))
        elif not isinstance(end, int) or not _touches(steps.get(thread), start, end):
            gone.append((row,))
    connection.executemany(f"DELETE FROM {NVTX} WHERE rowid = ?", gone)


def _by_thread(excerpt: Excerpt) -> dict[int, tuple[list[int], list[int]]]:
    """Starts and ends of the steps of each thread, in order: none lies in another."""
    found: dict[int, tuple[list[int], list[int]]] = {}
    for start, end, thread in sorted(excerpt.steps):
        starts, ends = found.setdefault(thread, ([], []))
        starts.append(start)
        ends.append(end)
    return found


def _touches(steps: tuple[list[int], list[int]] | None, start: int, end: int) -> bool:
    """Whether a range lies in one of the steps of its thread, or around one."""
    if steps is None:
        return False
    starts, ends = steps
    before = bisect_right(starts, start) - 1
    after = bisect_left(starts, start)
    return (before >= 0 and end <= ends[before]) or (after < len(starts) and ends[after] <= end)
