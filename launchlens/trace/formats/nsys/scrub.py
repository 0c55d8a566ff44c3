"""Makes an nsys export fit to be shared: no environment, output, paths, host or process names.

An export holds the environment of the traced processes three times (META_DATA_CAPTURE,
TARGET_INFO_SYSTEM_ENV and, as whole strings, StringIds reached through ProcessStreams), their
standard output, command lines, working directories, the host's name and the names of all running
processes. What is kept is chosen by name where that is possible; the rest is searched. Call stacks
stay: their functions and files are strings that only binary payloads refer to.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from launchlens.errors import TraceError
from launchlens.trace.formats.nsys.excerpt import cut_export
from launchlens.trace.formats.nsys.identity import find_names
from launchlens.trace.formats.nsys.layouts import as_bytes, read_layouts
from launchlens.trace.formats.nsys.left import find_left_over
from launchlens.trace.formats.nsys.names import PROCESS_MASK
from launchlens.trace.formats.nsys.payload import survey_payload
from launchlens.trace.formats.nsys.private import Cleaner, as_text, quoted, tables_of, text_columns
from launchlens.trace.formats.nsys.source import opened
from launchlens.trace.interface import Excerpt, TraceFile

# Facts about the machine that figures and their provenance need; all other rows are removed.
_KEPT_SYSTEM_NAMES = (
    *("CpuCores", "CpuArchitecture", "CpuDescription", "NvDriverVersion", "CudaDriverVersion"),
    *("OsDescription", "HardwarePlatform", "SoftwarePlatform"),
)
_OF_WRITING = ("SQLITE_FULL", "SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_IOERR_WRITE")
_EMPTIED_TABLES = (
    *("ProcessStreams", "ANALYSIS_FILE"),
    *("TARGET_INFO_NIC_INFO", "TARGET_INFO_NETWORK_DEVICES", "NIC_ID_MAP"),
)
_CAPTURE_KEYS = re.compile(
    r"ENVIRONMENT|WORKING_DIR|USER|HOST|DISPLAY_NAME|ARGUMENT_|UUID|DEVICE_ID|PATH|FILE(NAME)?$"
)
_EXPORT_KEYS = re.compile(r"PATH|HOST|USER|FILE|CMD|COMMAND|ENV")
_STRING_COLUMNS = (
    *("nameId", "textId", "jsonTextId", "demangledName", "shortName", "mangledName"),
    *("symbol", "module"),
)
_DECLARED_STRING = re.compile(r"^\s*(\w+)[^\n]*REFERENCES StringIds\(id\)", re.MULTILINE)
_OWNER_TABLES = ("CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_KERNEL")


def scrub_export(file: TraceFile, out: Path, excerpt: Excerpt | None = None) -> None:
    """Write a copy of an export without what identifies machine, user or environment.

    Figures, kernel names, ranges and copies stay as they are; paths inside texts shrink to their
    last part; binary payloads keep their length, so that offsets inside them stay right. With an
    ``excerpt`` the copy is cut to these steps.

    Raises:
        TraceError: the export cannot be read, or the copy not be written.
    """
    with opened(file) as source, _written(out) as target:
        source.backup(target)
        target.text_factory = as_text
        target.execute("PRAGMA secure_delete = ON")
        _drop_programs(target)
        columns = tables_of(target)
        cleaner = Cleaner(find_names(target))
        if excerpt is not None:
            cut_export(target, columns, excerpt)
        _empty_tables(target, columns)
        _filter_metadata(target, columns)
        _filter_processes(target, columns)
        _rename_gpus(target, columns)
        _filter_strings(target, columns, _clean_payloads(target, columns))
        _rewrite_texts(target, cleaner)
        if cleaner.secrets:
            _rewrite_texts(target, cleaner.without_secrets())
        if left := find_left_over(target, cleaner.secrets | cleaner.folders):
            raise TraceError(
                f"Scrubbing would leave, at {'; '.join(left[:3])}; nothing was written.",
                hint="Please report these places, without the trace.",
            )
        target.commit()
        target.execute("VACUUM")


@contextmanager
def _written(out: Path) -> Iterator[sqlite3.Connection]:
    """The copy's connection; says of what fails in writing that it does."""
    try:
        with closing(sqlite3.connect(out)) as connection:
            yield connection
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname.startswith(_OF_WRITING):
            raise TraceError(f"No copy can be written to {out.parent}: {error}.") from error
        raise


def _empty_tables(connection: sqlite3.Connection, columns: dict[str, list[str]]) -> None:
    for table in _EMPTIED_TABLES:
        if table in columns:
            connection.execute(f"DELETE FROM {table}")


def _filter_metadata(connection: sqlite3.Connection, columns: dict[str, list[str]]) -> None:
    for table, private in (
        ("META_DATA_CAPTURE", _CAPTURE_KEYS),
        ("META_DATA_EXPORT", _EXPORT_KEYS),
        ("EXPORT_META_DATA", _EXPORT_KEYS),
    ):
        if "name" in columns.get(table, ()):
            rows = connection.execute(f"SELECT rowid, name FROM {table}").fetchall()
            found = [(row,) for row, name in rows if isinstance(name, str) and private.search(name)]
            connection.executemany(f"DELETE FROM {table} WHERE rowid = ?", found)
    if "name" in columns.get("TARGET_INFO_SYSTEM_ENV", ()):
        marks = ", ".join("?" * len(_KEPT_SYSTEM_NAMES))
        connection.execute(
            f"DELETE FROM TARGET_INFO_SYSTEM_ENV WHERE name NOT IN ({marks})", _KEPT_SYSTEM_NAMES
        )


def _filter_processes(connection: sqlite3.Connection, columns: dict[str, list[str]]) -> None:
    """Keep the traced processes and their threads; the others only tell what else ran."""
    traced: set[int] = set()
    for table in _OWNER_TABLES:
        for name in ("globalTid", "globalPid"):
            if name in columns.get(table, ()):
                rows = connection.execute(f'SELECT DISTINCT "{name}" FROM {table}').fetchall()
                traced |= {row[0] & PROCESS_MASK for row in rows if isinstance(row[0], int)}
    marks = ", ".join(str(pid) for pid in sorted(traced)) or "NULL"
    if "PROCESSES" in columns and "globalPid" in columns["PROCESSES"]:
        connection.execute(
            f"DELETE FROM PROCESSES WHERE globalPid IS NULL OR globalPid NOT IN ({marks})"
        )
    if "ThreadNames" in columns and "globalTid" in columns["ThreadNames"]:
        connection.execute(
            "DELETE FROM ThreadNames WHERE globalTid IS NULL "
            f"OR (globalTid & {PROCESS_MASK}) NOT IN ({marks})"
        )


def _rename_gpus(connection: sqlite3.Connection, columns: dict[str, list[str]]) -> None:
    """Replace each GPU's own identifier by its number: still different, no longer traceable."""
    if "uuid" in columns.get("TARGET_INFO_GPU", ()):
        connection.execute(
            "UPDATE TARGET_INFO_GPU SET uuid = 'GPU-' || rowid WHERE typeof(uuid) = 'text'"
        )


def _clean_payloads(connection: sqlite3.Connection, columns: dict[str, list[str]]) -> set[int]:
    """Clear the padding of binary payloads; gives the ids of the strings they refer to."""
    if not {"domainId", "binaryData"} <= set(columns.get("NVTX_EVENTS", ())):
        return set()
    layouts = read_layouts(connection, {})
    kept: set[int] = set()
    events = connection.execute(
        "SELECT rowid, domainId, binaryData FROM NVTX_EVENTS WHERE binaryData IS NOT NULL"
    ).fetchall()
    for row, domain, binary in events:
        payload = as_bytes(binary)
        strings, cleared = survey_payload(payload, layouts, domain or 0)
        kept |= strings
        if cleared != payload:
            value = cleared if isinstance(binary, bytes) else cleared.hex()
            connection.execute(
                "UPDATE NVTX_EVENTS SET binaryData = ? WHERE rowid = ?", (value, row)
            )
    return kept


def _filter_strings(
    connection: sqlite3.Connection, columns: dict[str, list[str]], kept: set[int]
) -> None:
    """Remove strings that nothing refers to any more (output, environments, other processes).

    ``kept`` are the ids of strings that payloads refer to.
    """
    if "StringIds" not in columns:
        return
    declared = {
        table: set(_DECLARED_STRING.findall(sql or ""))
        for table, sql in connection.execute("SELECT name, sql FROM sqlite_master")
    }
    references = [
        f'SELECT "{name}" FROM "{table}" WHERE typeof("{name}") = \'integer\''
        for table, names in columns.items()
        for name in names
        if table != "StringIds" and (name in _STRING_COLUMNS or name in declared.get(table, ()))
    ]
    if references:
        connection.execute("CREATE TEMP TABLE kept_strings (id INTEGER PRIMARY KEY)")
        # An id beyond SQLite's integers is no row's: a payload of another format.
        ids = [(i,) for i in kept if i < 1 << 63]
        connection.executemany("INSERT OR IGNORE INTO kept_strings VALUES (?)", ids)
        for query in references:
            connection.execute(f"INSERT OR IGNORE INTO kept_strings {query}")
        connection.execute("DELETE FROM StringIds WHERE id NOT IN (SELECT id FROM kept_strings)")


def _rewrite_texts(connection: sqlite3.Connection, cleaner: Cleaner) -> None:
    """Clean every text and payload; each different value once, in Python, in any encoding."""
    connection.execute(
        "CREATE TEMP TABLE IF NOT EXISTS cleaned (old PRIMARY KEY, new) WITHOUT ROWID"
    )
    for table, names in text_columns(connection).items():
        for name in names:
            column = quoted(name)
            values = connection.execute(
                f"SELECT DISTINCT {column} FROM {quoted(table)} "
                f"WHERE typeof({column}) IN ('text', 'blob')"
            )
            changed = [
                (*_stored(value), *_stored(new))
                for (value,) in values
                if (new := cleaner.value(value)) != value
            ]
            if not changed:
                continue
            connection.execute("DELETE FROM cleaned")
            connection.executemany(
                "INSERT INTO cleaned VALUES "
                "(iif(?1, CAST(?2 AS TEXT), ?2), iif(?3, CAST(?4 AS TEXT), ?4))",
                changed,
            )
            connection.execute(
                f"UPDATE {quoted(table)} SET {column} = (SELECT new FROM cleaned WHERE old = "
                f"+{column}) WHERE EXISTS (SELECT 1 FROM cleaned WHERE old = +{column})"
            )


def _drop_programs(connection: sqlite3.Connection) -> None:
    """Views and triggers go: an export has none, and a trigger would write what is removed."""
    programs = connection.execute(
        "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view')"
    ).fetchall()
    for kind, name in programs:
        connection.execute(f"DROP {kind} {quoted(name)}")


def _stored(value: str | bytes) -> tuple[bool, str | bytes]:
    """A value as SQL takes it, and whether it is bytes that are a text of another encoding."""
    if isinstance(value, str) and not value.isprintable():
        raw = value.encode("utf-8", "surrogateescape")
        try:
            raw.decode()
        except UnicodeDecodeError:
            return True, raw
    return False, value
