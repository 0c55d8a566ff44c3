"""One way to read an export's two big tables into columns, timed: a child of benchmarks/run.py.

usage: python benchmarks/readers.py adbc-1|adbc-2|connectorx|sqlite3 TRACE.sqlite

Prints seconds (imports left out) and checksums, so that all ways provably read the same.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

TABLES = {
    "CUPTI_ACTIVITY_KIND_KERNEL": (
        "start",
        "end",
        "deviceId",
        "streamId",
        "correlationId",
        "globalPid",
        "demangledName",
        "graphNodeId",
    ),
    "CUPTI_ACTIVITY_KIND_RUNTIME": ("start", "end", "globalTid", "correlationId", "nameId"),
}
Columns = dict[str, Any]


def select(table: str, low: int | None = None, high: int | None = None) -> str:
    """The query for a table, or for its rows from ``low`` up to ``high``."""
    columns = ", ".join(f'"{c}"' for c in TABLES[table])
    where = "" if low is None else f" WHERE rowid >= {low} AND rowid < {high}"
    return f"SELECT {columns} FROM {table}{where}"


def open_adbc(connections: int) -> Callable[[str, str], int]:
    """Arrow through ADBC's driver, the rows shared between read-only connections."""
    import adbc_driver_sqlite.dbapi as adbc
    import pyarrow.compute as pc

    def fetch(path: str, sql: str) -> int:
        with adbc.connect(f"file:{path}?mode=ro&immutable=1") as db, db.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": "65536"})
            cursor.execute(sql)
            table = cursor.fetch_arrow_table()
            return int(pc.sum(table["end"]).as_py() or 0)

    def read(path: str, table: str) -> int:
        with adbc.connect(f"file:{path}?mode=ro&immutable=1") as db, db.cursor() as cursor:
            cursor.execute(f"SELECT min(rowid), max(rowid) + 1 FROM {table}")
            low, high = cursor.fetchone()
        edges = [low + (high - low) * i // connections for i in range(connections + 1)]
        queries = [select(table, a, b) for a, b in pairwise(edges)]
        with ThreadPoolExecutor(connections) as pool:
            return sum(pool.map(lambda sql: fetch(path, sql), queries))

    return read


def open_connectorx() -> Callable[[str, str], int]:
    """Arrow through connectorx, which shares a table between its own threads."""
    import connectorx
    import pyarrow.compute as pc

    def read(path: str, table: str) -> int:
        rows = connectorx.read_sql(
            f"sqlite://{path}",
            select(table).replace("SELECT ", "SELECT rowid AS row, "),
            return_type="arrow",
            partition_on="row",
            partition_num=2,
        )
        return int(pc.sum(rows["end"]).as_py())

    return read


def open_sqlite3() -> Callable[[str, str], int]:
    """Python's own sqlite3, row by row into NumPy."""
    import sqlite3

    import numpy as np

    def read(path: str, table: str) -> int:
        db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        cursor = db.execute(select(table))
        parts = []
        while rows := cursor.fetchmany(65_536):
            parts.append(np.array([[-1 if v is None else v for v in row] for row in rows]))
        db.close()
        columns = np.concatenate(parts)
        return int(columns[:, TABLES[table].index("end")].sum())

    return read


def main() -> None:
    name, path = sys.argv[1:]
    openers: dict[str, Callable[[], Callable[[str, str], int]]] = {
        "adbc-1": lambda: open_adbc(1),
        "adbc-2": lambda: open_adbc(2),
        "connectorx": open_connectorx,
        "sqlite3": open_sqlite3,
    }
    read = openers[name]()
    begin = time.perf_counter()
    sums = [read(path, table) for table in TABLES]
    print(json.dumps({"seconds": time.perf_counter() - begin, "sums": sums}))


if __name__ == "__main__":
    main()
