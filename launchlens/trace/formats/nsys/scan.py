"""One scan of a table into NumPy columns, through the Arrow driver for SQLite (ADBC).

Measured on two cores over 3.0 million kernel and 6.5 million API rows (docs/develop/benchmarks.md):
reading both tables takes connectorx 1.3 s, ADBC with two connections 1.6 s, with one 2.8 s,
Python's sqlite3 14 s. ADBC it is, since it opens a file strictly read-only: connectorx would create
a file for a wrong name, and lock and journal files beside a trace.

Rows arrive in batches and are made small at once, so that a table of millions of rows never
lies in memory twice.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from launchlens.errors import TraceError
from launchlens.trace.formats.nsys.schema import Schema
from launchlens.trace.formats.nsys.source import find_odd_cell, said_by, sqlite_uri
from launchlens.trace.interface import TraceFile

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_TEXT = 16_384
NULL = int(np.iinfo(np.int64).min)
_REACH_NS = 2**47  # 39 hours: sums of such times, over millions of rows, fit into 64 bits
_BATCH_ROWS = 65_536
_ROWS_WORTH_TWO_CONNECTIONS = 200_000
_INT32_MAX = 2**31 - 1
_LEAST_ROW_BYTES = 4  # no row of an SQLite table takes less
_WIDENING = threading.Lock()

Kind = Literal["int", "time", "id", "code", "key"]
Column = tuple[str, Kind]
"""An SQL expression, and how to keep it: "int" int64 with `NULL`; "time" the
same, `NULL` too for what is days away from the recording; "id" int32 where all ids fit,
else int64 (NULL as -1); "code" int32 codes of distinct values (NULL as -1); "key" codes of
distinct integers."""


@dataclass(slots=True)
class Scanned:
    """Columns of a scanned table, in the order they were asked for, and its codes' values."""

    columns: list[npt.NDArray[Any]]
    values: dict[int, list[object]]

    def take(self, index: int) -> npt.NDArray[Any]:
        """A column, given away: the scan no longer holds it."""
        column = self.columns[index]
        self.columns[index] = np.empty(0, column.dtype)
        return column


class _DisorderError(Exception):
    """More rows than row ids: those of a damaged table go backwards, or come twice."""


@dataclass(slots=True)
class _Part:
    """Rows that one connection reads: its slice of the columns, and the codes it gave."""

    first: int
    rows: int = 0
    codes: dict[int, dict[object, int]] = field(default_factory=dict)


def scan_table(
    file: TraceFile, schema: Schema, table: str, columns: Sequence[Column], *, where: str = "1"
) -> Scanned:
    """The columns of every row that meets ``where``, in row order.

    Raises:
        TraceError: a page of the file is damaged, or a column holds what does not belong there.
    """
    low, high = schema.rows[table]
    room = min(max(high + 1 - low, 0), file.path.stat().st_size // _LEAST_ROW_BYTES + 1)
    bounds = [low, high + 1]
    if high - low > _ROWS_WORTH_TWO_CONNECTIONS and room == high + 1 - low:
        bounds = [low, (low + high) // 2, high + 1]
    select = ", ".join(f"{expression} AS c{i}" for i, (expression, _) in enumerate(columns))
    sql = f"SELECT {select} FROM {table} WHERE ({where}) AND rowid >= {{}} AND rowid < {{}}"
    # Memory is taken only where rows arrive, so room for the widest possible table costs nothing.
    store = [
        np.empty(room, np.int64 if kind in ("int", "time") else np.int32) for _, kind in columns
    ]
    parts = [_Part(first - low) for first in bounds[:-1]]
    try:
        with ThreadPoolExecutor(len(parts)) as pool:
            jobs = [
                pool.submit(
                    _fill, file.path, sql.format(a, b), columns, store, part, schema.middle_ns
                )
                for (a, b), part in zip(pairwise(bounds), parts, strict=True)
            ]
            for job in jobs:
                job.result()
    except Exception as error:
        if not isinstance(error, _DisorderError) and not type(error).__module__.startswith(
            ("adbc_driver_manager", "pyarrow")
        ):
            raise
        numbers = [expression for expression, kind in columns if kind != "code"]
        raise _unreadable(
            file, table, find_odd_cell(file, table, numbers) or said_by(error)
        ) from error
    scanned = _join(store, parts, columns)
    for i, (expression, kind) in enumerate(columns):
        if kind == "key" and not all(isinstance(v, int) for v in scanned.values[i]):
            raise _unreadable(file, table, find_odd_cell(file, table, [expression]))
    return scanned


def _unreadable(file: TraceFile, table: str, why: str | None) -> TraceError:
    return TraceError(
        f"{file.named}: table {table} cannot be read: {why or 'a column of ids holds none'}.",
        hint="The export is damaged: export the report again.",
    )


def _fill(
    path: Path,
    sql: str,
    columns: Sequence[Column],
    store: list[npt.NDArray[Any]],
    part: _Part,
    middle_ns: int,
) -> None:
    from adbc_driver_sqlite import dbapi

    with dbapi.connect(sqlite_uri(path)) as connection, connection.cursor() as cursor:
        cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(_BATCH_ROWS)})
        cursor.execute(sql)
        for batch in cursor.fetch_record_batch():
            begin = part.first + part.rows
            if begin + batch.num_rows > store[0].size:
                raise _DisorderError("its row ids are out of order")
            for i, (_, kind) in enumerate(columns):
                values = _convert(batch.column(i), kind, part, i)
                if kind == "time":
                    values = _near(values, middle_ns)
                if kind == "id" and store[i].dtype == np.int32 and not _fits(values):
                    with _WIDENING:
                        store[i] = store[i].astype(np.int64)
                store[i][begin : begin + values.size] = values
            part.rows += batch.num_rows


def _fits(values: npt.NDArray[np.int64]) -> bool:
    return values.size == 0 or (values.min() > -_INT32_MAX and values.max() < _INT32_MAX)


def _near(values: npt.NDArray[np.int64], middle_ns: int) -> npt.NDArray[np.int64]:
    """Times, `NULL` for those that no recording around this one can have: they are not times."""
    far = (values < max(middle_ns - _REACH_NS, NULL)) | (
        values > min(middle_ns + _REACH_NS, -NULL - 1)
    )
    return np.where(far, NULL, values) if far.any() else values


def _convert(values: pa.Array, kind: Kind, part: _Part, index: int) -> npt.NDArray[Any]:
    if kind in ("code", "key"):
        return _encode(values, part.codes.setdefault(index, {}))
    return _integers(values, -1 if kind == "id" else NULL)


def _integers(values: pa.Array, null: int) -> npt.NDArray[np.int64]:
    import pyarrow as pa

    if not pa.types.is_integer(values.type):
        values = values.cast(pa.int64())
    if values.null_count:
        values = values.fill_null(null)
    return np.asarray(values.to_numpy(zero_copy_only=False), np.int64)


def _encode(values: pa.Array, codes: dict[object, int]) -> npt.NDArray[np.int32]:
    import pyarrow as pa

    if pa.types.is_string(values.type):  # which need not be UTF-8, whatever SQLite says
        values = values.cast(pa.binary())
    encoded = values.dictionary_encode()
    table = np.array(
        [codes.setdefault(v, len(codes)) for v in encoded.dictionary.to_pylist()] or [-1], np.int32
    )
    indices = encoded.indices
    result: npt.NDArray[np.int32] = table[
        np.asarray(indices.fill_null(0).to_numpy(zero_copy_only=False), np.int32)
    ]
    if indices.null_count:
        result[np.asarray(values.is_null().to_numpy(zero_copy_only=False), bool)] = -1
    return result


def _join(
    store: list[npt.NDArray[Any]], parts: Sequence[_Part], columns: Sequence[Column]
) -> Scanned:
    values: dict[int, list[object]] = {}
    for i, (_, kind) in enumerate(columns):
        if kind in ("code", "key"):
            values[i] = _join_codes(store[i], parts, i)
    total = 0
    for part in parts:
        if part.first != total:  # rows are missing between the parts: close the hole
            for column in store:
                column[total : total + part.rows] = column[part.first : part.first + part.rows]
        total += part.rows
    return Scanned([column[:total] for column in store], values)


def _join_codes(column: npt.NDArray[Any], parts: Sequence[_Part], index: int) -> list[object]:
    """Give every part's codes the same meaning; returns what they stand for."""
    codes: dict[object, int] = {}
    for part in parts:
        mine = part.codes.get(index, {})
        remap = np.array([codes.setdefault(v, len(codes)) for v in mine] + [-1], np.int32)
        if not np.array_equal(remap[:-1], np.arange(remap.size - 1)):
            rows = column[part.first : part.first + part.rows]
            rows[:] = remap[rows]  # -1 picks the last entry, which is -1
    return list(codes)


def as_text(value: object) -> str:
    """Text of an export, which may be bytes of any encoding, or nothing.

    Names longer than any compiler's are shortened, as reports repeat them for each row.
    """
    if isinstance(value, bytes):
        text = value.decode("utf-8", "replace")
    else:
        text = "" if value is None else str(value)
    if len(text) <= LONGEST_TEXT:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{text[:LONGEST_TEXT]}… ({len(text)} characters, {digest})"
