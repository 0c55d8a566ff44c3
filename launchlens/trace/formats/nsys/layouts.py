"""How a trace lays out the binary payloads of its NVTX events.

Tables: NVTX_PAYLOAD_SCHEMAS (a row for each layout) and NVTX_PAYLOAD_SCHEMA_ENTRIES (a row for each
field). A field that is a registered string holds the string's id in StringIds.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

_T = TypeVar("_T")
_ANY = -1  # in place of a domain's number

_SCHEMA_COLUMNS = ("domainId", "schemaId", "name", "type", "payloadSize")
_ENTRY_COLUMNS = (
    "domainId", "schemaId", "idx", "flags", "type", "name", "arrayOrUnionDetail", "offset",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SchemaRow:
    """One layout (NVTX_PAYLOAD_SCHEMAS)."""

    domain_id: int
    schema_id: int
    name: str | None
    kind: int
    payload_bytes: int


@dataclass(frozen=True, slots=True)
class EntryRow:
    """One field of a layout (NVTX_PAYLOAD_SCHEMA_ENTRIES)."""

    domain_id: int
    schema_id: int
    index: int
    flags: int
    kind: int
    name: str | None
    detail: int
    offset: int | None


@dataclass(frozen=True, slots=True)
class Layouts:
    """Layouts of a trace: entries of each (domain, schema) in order, and sizes."""

    entries: Mapping[tuple[int, int], tuple[EntryRow, ...]]
    size_bytes: Mapping[tuple[int, int], int]
    strings: Mapping[int, str]

    @classmethod
    def of(
        cls,
        schemas: Iterable[SchemaRow],
        entries: Iterable[EntryRow],
        strings: Iterable[tuple[int, str]] = (),
    ) -> Layouts:
        """Layouts from the export's rows."""
        by_schema: dict[tuple[int, int], list[EntryRow]] = defaultdict(list)
        for entry in entries:
            by_schema[entry.domain_id, entry.schema_id].append(entry)
        fields = {key: tuple(sorted(v, key=lambda e: e.index)) for key, v in by_schema.items()}
        sizes = {(s.domain_id, s.schema_id): s.payload_bytes for s in schemas}
        return cls(_of_any(fields) | fields, _of_any(sizes) | sizes, dict(strings))

    def fields(self, domain: int, schema: int) -> tuple[EntryRow, ...]:
        """Entries of a layout; of any domain's, where this domain has none of that number."""
        own = self.entries.get((domain, schema))
        return self.entries.get((_ANY, schema), ()) if own is None else own

    def size(self, domain: int, schema: int) -> int:
        """Static size of a layout in bytes, 0 when it has none."""
        own = self.size_bytes.get((domain, schema))
        return self.size_bytes.get((_ANY, schema), 0) if own is None else own


def _of_any(by_schema: Mapping[tuple[int, int], _T]) -> dict[tuple[int, int], _T]:
    """The first of each number, under the domain that stands for any."""
    return {(_ANY, schema): value for (_, schema), value in reversed([*by_schema.items()])}


def read_layouts(connection: sqlite3.Connection, strings: Mapping[int, str]) -> Layouts:
    """The layouts of an export; empty when it has none. ``strings`` are its StringIds, by id."""
    schemas = [
        SchemaRow(domain or 0, schema, name, kind or 0, size or 0)
        for domain, schema, name, kind, size in select(
            connection, "NVTX_PAYLOAD_SCHEMAS", _SCHEMA_COLUMNS
        )
    ]
    entries = [
        EntryRow(domain or 0, schema, index, flags or 0, kind or 0, name, detail or 0, offset)
        for domain, schema, index, flags, kind, name, detail, offset in select(
            connection, "NVTX_PAYLOAD_SCHEMA_ENTRIES", _ENTRY_COLUMNS
        )
    ]
    return Layouts.of(schemas, entries, strings.items())


def select(
    connection: sqlite3.Connection,
    table: str,
    names: tuple[str, ...],
    *,
    where: tuple[str, int] | None = None,
) -> list[tuple[Any, ...]]:
    """Rows of the named columns, NULL where the table lacks one; nothing without the table.

    ``where`` is a column and the value it must have; a missing column gives no rows.
    """
    have = {row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')}
    if not have or (where is not None and where[0] not in have):
        return []
    columns = ", ".join(f'"{n}"' if n in have else "NULL" for n in names)
    condition, values = (f' WHERE "{where[0]}" = ?', (where[1],)) if where else ("", ())
    return connection.execute(f'SELECT {columns} FROM "{table}"{condition}', values).fetchall()


def as_bytes(payload: object) -> bytes:
    """``binaryData``, declared TEXT: blobs arrive as bytes, in some exports as hexadecimal text."""
    if isinstance(payload, bytes):
        return payload
    if isinstance(payload, str):
        try:
            return bytes.fromhex(payload)
        except ValueError:
            return payload.encode()
    return b""
