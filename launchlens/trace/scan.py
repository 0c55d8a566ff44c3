"""One scan of a table into NumPy columns, through the Arrow driver for SQLite (ADBC).

Measured on two cores over 3.0 million kernel and 6.5 million API rows (docs/benchmarks.md):
ADBC with two read-only connections 1.2 s, connectorx 1.4 s, ADBC with one connection 3.4 s,
Python's sqlite3 8.9 s. ADBC also opens a file read-only, which connectorx cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from launchlens.errors import TraceError
from launchlens.trace.schema import Schema
from launchlens.trace.source import sqlite_uri

if TYPE_CHECKING:
    import pyarrow as pa

NULL = np.iinfo(np.int64).min
_BATCH_ROWS = 65_536
_ROWS_WORTH_TWO_CONNECTIONS = 200_000


def scan_table(
    path: Path, schema: Schema, table: str, select: Sequence[str], *, named: Path, where: str = "1"
) -> pa.Table:
    """The columns ``select`` (SQL expressions) of every row, in row order, as an Arrow table.

    Raises:
        TraceError: a page of the file is damaged, or a column holds what does not belong there.
    """
    low, high = schema.rows[table]
    bounds = [low, high + 1]
    if high - low > _ROWS_WORTH_TWO_CONNECTIONS:
        bounds = [low, (low + high) // 2, high + 1]
    columns = ", ".join(f"{expression} AS c{i}" for i, expression in enumerate(select))
    sql = f"SELECT {columns} FROM {table} WHERE ({where}) AND rowid >= {{}} AND rowid < {{}}"
    queries = [sql.format(a, b) for a, b in pairwise(bounds)]
    try:
        with ThreadPoolExecutor(len(queries)) as pool:
            parts = list(pool.map(lambda query: _fetch(path, query), queries))
        import pyarrow as pa

        return pa.concat_tables(parts, promote_options="permissive")
    except Exception as error:
        if not type(error).__module__.startswith(("adbc_driver_manager", "pyarrow")):
            raise
        reason = " ".join(str(error).split())[:200]
        raise TraceError(
            f"{named}: table {table} cannot be read: {reason}.",
            hint="The export is damaged: export the report again.",
        ) from error


def _fetch(path: Path, sql: str) -> pa.Table:
    from adbc_driver_sqlite import dbapi

    with dbapi.connect(sqlite_uri(path)) as connection, connection.cursor() as cursor:
        cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(_BATCH_ROWS)})
        cursor.execute(sql)
        return cursor.fetch_arrow_table()


def integers(table: pa.Table, column: int) -> npt.NDArray[np.int64]:
    """A column as int64, NULL as `NULL`.

    Raises:
        TypeError: the column holds text or blobs.
    """
    import pyarrow as pa

    values = table.column(column)
    if values.null_count:
        values = values.fill_null(int(NULL))
    if not pa.types.is_integer(values.type):
        values = values.cast(pa.int64())
    return np.asarray(values.to_numpy(), np.int64)


def encoded(table: pa.Table, column: int) -> tuple[npt.NDArray[np.int32], list[object]]:
    """A column as codes and the distinct values they stand for (NULL as code -1)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = pc.dictionary_encode(table.column(column))
    if isinstance(values, pa.ChunkedArray):
        values = values.unify_dictionaries().combine_chunks()
        if isinstance(values, pa.ChunkedArray):
            values = values.chunk(0) if values.num_chunks else pa.array([]).dictionary_encode()
    codes = values.indices
    if codes.null_count:
        codes = codes.fill_null(-1)
    return np.asarray(codes.to_numpy(zero_copy_only=False), np.int32), values.dictionary.to_pylist()


def as_text(value: object) -> str:
    """Text of an export, which may be bytes of any encoding, or nothing."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)
