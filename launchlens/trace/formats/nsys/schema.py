"""Which tables and columns an export has. nsys omits tables without events and renames columns.

The export schema's major number never moved while tables and columns did, so everything is
probed: ``sqlite_master`` for tables, ``PRAGMA table_info`` for columns.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from launchlens.errors import TraceError
from launchlens.trace.formats.nsys.source import EXPORT_HINT, connect_read_only, looked_through
from launchlens.trace.interface import TraceFile

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
MEMCPY = "CUPTI_ACTIVITY_KIND_MEMCPY"
MEMSET = "CUPTI_ACTIVITY_KIND_MEMSET"
GRAPH_TRACE = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
NVTX = "NVTX_EVENTS"
STRINGS = "StringIds"
CONTEXTS = "TARGET_INFO_CUDA_CONTEXT_INFO"

KNOWN_MAJOR = 3
_MARKS_OF_NSYS = frozenset(
    (RUNTIME, KERNEL, NVTX, STRINGS, "META_DATA_EXPORT", "EXPORT_META_DATA", "ANALYSIS_DETAILS")
)
_TABLES = "SELECT name FROM sqlite_master WHERE type='table'"
_TIMES = ("start", "end")
_SAMPLES = 11
_REQUIRED = {
    RUNTIME: (*_TIMES, "globalTid", "correlationId", "nameId"),
    KERNEL: (*_TIMES, "deviceId", "streamId", "correlationId", "globalPid"),
    MEMCPY: (*_TIMES, "deviceId", "streamId", "correlationId", "globalPid", "bytes", "copyKind"),
    MEMSET: (*_TIMES, "deviceId", "streamId", "correlationId", "globalPid"),
    GRAPH_TRACE: (*_TIMES, "deviceId", "streamId", "correlationId", "globalPid"),
    NVTX: (*_TIMES, "eventType", "globalTid"),
    STRINGS: ("id", "value"),
}
TABLES_READ = tuple(_REQUIRED)
"""The tables whose rows become figures."""


@dataclass(frozen=True, slots=True)
class Schema:
    """Tables of an export with their columns and the range of their row ids."""

    columns: dict[str, tuple[str, ...]]
    rows: dict[str, tuple[int, int]]
    version: str | None
    nsys_version: str | None
    middle_ns: int = 0
    """A time in the midst of the recording."""

    def has(self, table: str, *columns: str) -> bool:
        """Whether the table is there, with all these columns."""
        have = self.columns.get(table)
        return have is not None and all(column in have for column in columns)

    def pick(self, table: str, *candidates: str, default: str = "NULL") -> str:
        """The first of these columns that the table has, else an SQL default."""
        return next((c for c in candidates if self.has(table, c)), default)


def has_nsys_tables(path: Path) -> bool:
    """Whether an SQLite file holds any of nsys's tables; true where its catalogue is damaged."""
    try:
        with closing(connect_read_only(path)) as db:
            return not _MARKS_OF_NSYS.isdisjoint(row[0] for row in db.execute(_TABLES))
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return True


def read_schema(file: TraceFile) -> Schema:
    """Probe an export's catalogue.

    Raises:
        TraceError: damaged, of an unknown major schema version, or without a column that every
            known version has.
    """
    with looked_through(file) as db:
        return _probe(db, file.named)


def _probe(db: sqlite3.Connection, named: Path) -> Schema:
    found = [r[0] for r in db.execute(_TABLES)]
    names = [name for name in found if isinstance(name, str)]  # damage makes bytes of them
    columns = {
        name: tuple(r[1] for r in db.execute(f'PRAGMA table_info("{name}")'))
        for name in names
        if '"' not in name
    }
    version, nsys_version = _versions(db, columns)
    major = (version or "").partition(".")[0]
    if major.isdigit() and int(major) > KNOWN_MAJOR:
        raise TraceError(
            f"{named} has export schema {version}, newer than launchlens reads (3.x).",
            hint="Upgrade launchlens, or export with an older nsys.",
        )
    for table, required in _REQUIRED.items():
        missing = [c for c in required if table in columns and c not in columns[table]]
        if missing:
            raise TraceError(
                f"{named}: table {table} has no column {', '.join(missing)} (export schema "
                f"{version or 'unknown'}).",
                hint="Export the report with a released nsys, or report this version.",
            )
    if STRINGS not in columns:
        raise TraceError(
            f"{named} has no table {STRINGS}: the export is incomplete.", hint=EXPORT_HINT
        )
    rows = {}
    for table in _REQUIRED:
        if table in columns:
            # Two queries: SQLite answers each from the ends of the tree, both at once by a scan.
            low = db.execute(f"SELECT min(rowid) FROM {table}").fetchone()[0]
            high = db.execute(f"SELECT max(rowid) FROM {table}").fetchone()[0]
            if low is not None:
                rows[table] = (low, high)
    return Schema(columns, rows, version, nsys_version, _middle(db, rows))


def _middle(db: sqlite3.Connection, rows: dict[str, tuple[int, int]]) -> int:
    """The median of some starts: rows of every table with times, spread over it."""
    found = []
    for table, (low, high) in rows.items():
        if table == STRINGS:
            continue
        for part in range(_SAMPLES):
            row = low + (high - low) * part // _SAMPLES
            query = f"SELECT start FROM {table} WHERE rowid >= ? LIMIT 1"
            (start,) = db.execute(query, (row,)).fetchone() or (None,)
            if isinstance(start, int) and start:
                found.append(start)
    return sorted(found)[len(found) // 2] if found else 0


def _versions(
    db: sqlite3.Connection, columns: dict[str, tuple[str, ...]]
) -> tuple[str | None, str | None]:
    for table in ("META_DATA_EXPORT", "EXPORT_META_DATA"):
        if {"name", "value"} <= set(columns.get(table, ())):
            facts = dict(db.execute(f"SELECT name, value FROM {table}"))
            version = facts.get("EXPORT_SCHEMA_VERSION")
            product = facts.get("EXPORT_PRODUCT_VERSION")
            return (str(version) if version else None, str(product) if product else None)
    return None, None
