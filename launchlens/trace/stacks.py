"""Reads the call stacks of an export, if it was recorded with them.

Tables: CUDA_CALLCHAINS (native frames), NVTX_EVENTS of the domain "Python Backtrace on CUDA"
(Python frames, in ``binaryData``; kept only by ``nsys export --include-blobs=true``),
NVTX_PAYLOAD_SCHEMAS and NVTX_PAYLOAD_SCHEMA_ENTRIES (their layout). Rows are handed on
undecoded.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from launchlens.errors import TraceError
from launchlens.model.stacks import ChainRow, EntryRow, MarkRow, SchemaRow, Stacks
from launchlens.trace.source import connect_read_only, open_source

PYTHON_DOMAIN = "Python Backtrace on CUDA"
_DOMAIN_CREATION = 75
_MARKS = (34, 59, 60)


def read_stacks(path: Path) -> Stacks:
    """Read all call stacks of an SQLite export.

    Args:
        path: an SQLite export, compressed or not; opened read-only.

    Returns:
        The rows; an empty record for an export without stacks.

    Raises:
        TraceError: the file is missing or cannot be read as SQLite.
    """
    try:
        with open_source(path) as plain, closing(connect_read_only(plain)) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            tables = {
                table: [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
                for (table,) in connection.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table'"
                ).fetchall()
            }
            marks = _read_marks(connection, tables)
            return Stacks(
                chains=_read_chains(connection, tables),
                schemas=_read_schemas(connection, tables) if marks else (),
                entries=_read_entries(connection, tables) if marks else (),
                marks=marks,
                strings=_read_strings(connection, tables) if marks else (),
            )
    except sqlite3.DatabaseError as error:
        raise TraceError(f"{path} could not be read as an SQLite export: {error}.") from error


def _select(
    connection: sqlite3.Connection,
    tables: dict[str, list[str]],
    table: str,
    names: tuple[str, ...],
) -> list[tuple[Any, ...]]:
    """Rows of the named columns, NULL where the table lacks one; nothing without the table."""
    if table not in tables:
        return []
    have = tables[table]
    columns = ", ".join(f'"{n}"' if n in have else "NULL" for n in names)
    return connection.execute(f'SELECT {columns} FROM "{table}"').fetchall()


def _read_chains(
    connection: sqlite3.Connection, tables: dict[str, list[str]]
) -> tuple[ChainRow, ...]:
    rows = _select(connection, tables, "CUDA_CALLCHAINS", ("id", "stackDepth", "symbol", "module"))
    wanted = {row[k] for row in rows for k in (2, 3) if isinstance(row[k], int)}
    texts = {
        i: v for i, v in _select(connection, tables, "StringIds", ("id", "value")) if i in wanted
    }
    return tuple(
        ChainRow(int(chain), int(depth or 0), str(texts.get(symbol, symbol)), texts.get(module))
        for chain, depth, symbol, module in rows
        if chain is not None
    )


def _read_schemas(
    connection: sqlite3.Connection, tables: dict[str, list[str]]
) -> tuple[SchemaRow, ...]:
    names = ("domainId", "schemaId", "name", "type", "payloadSize")
    rows = _select(connection, tables, "NVTX_PAYLOAD_SCHEMAS", names)
    return tuple(
        SchemaRow(domain or 0, schema, name, kind or 0, size or 0)
        for domain, schema, name, kind, size in rows
    )


def _read_entries(
    connection: sqlite3.Connection, tables: dict[str, list[str]]
) -> tuple[EntryRow, ...]:
    names = ("domainId", "schemaId", "idx", "flags", "type", "name", "arrayOrUnionDetail", "offset")
    rows = _select(connection, tables, "NVTX_PAYLOAD_SCHEMA_ENTRIES", names)
    return tuple(
        EntryRow(domain or 0, schema, index, flags or 0, kind or 0, name, detail or 0, offset)
        for domain, schema, index, flags, kind, name, detail, offset in rows
    )


def _read_marks(
    connection: sqlite3.Connection, tables: dict[str, list[str]]
) -> tuple[MarkRow, ...]:
    if "NVTX_EVENTS" not in tables:
        return ()
    named = connection.execute(
        "SELECT DISTINCT domainId FROM NVTX_EVENTS LEFT JOIN StringIds ON StringIds.id = textId "
        "WHERE eventType = ? AND COALESCE(text, value) = ?",
        (_DOMAIN_CREATION, PYTHON_DOMAIN),
    ).fetchall()
    domains = [domain for (domain,) in named if domain is not None]
    if not domains:
        return ()
    binary = "binaryData" if "binaryData" in tables["NVTX_EVENTS"] else "NULL"
    marks = ", ".join("?" * len(domains))
    kinds = ", ".join(str(kind) for kind in _MARKS)
    rows = connection.execute(
        f"SELECT start, globalTid, domainId, COALESCE(text, value), {binary} "
        "FROM NVTX_EVENTS LEFT JOIN StringIds ON StringIds.id = textId "
        f"WHERE domainId IN ({marks}) AND eventType IN ({kinds}) AND globalTid IS NOT NULL",
        domains,
    ).fetchall()
    return tuple(
        MarkRow(start, tid, domain, text, _as_bytes(payload))
        for start, tid, domain, text, payload in rows
    )


def _read_strings(
    connection: sqlite3.Connection, tables: dict[str, list[str]]
) -> tuple[tuple[int, str], ...]:
    return tuple((i, v) for i, v in _select(connection, tables, "StringIds", ("id", "value")))


def _as_bytes(payload: object) -> bytes:
    """The column is declared TEXT: blobs arrive as bytes, in some exports as hexadecimal text."""
    if isinstance(payload, bytes):
        return payload
    if isinstance(payload, str):
        try:
            return bytes.fromhex(payload)
        except ValueError:
            return payload.encode()
    return b""
