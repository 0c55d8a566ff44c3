"""Damaged pages of an export: found, so that they never lose rows in silence.

SQLite reads a page whose number of cells is wrong without complaint, and the rows are gone. Its
``quick_check`` holds every byte of the pages against what they tell of themselves. It takes 1.4 s
for 520 MB (docs/develop/benchmarks.md has the file) and runs beside the scan. What it cannot see is
a value that changed and is still one: SQLite keeps no checksums.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

from launchlens.errors import TraceError
from launchlens.trace.formats.nsys.schema import TABLES_READ
from launchlens.trace.formats.nsys.source import EXPORT_HINT, said_by, sqlite_uri
from launchlens.trace.interface import TraceFile

_NO_DAMAGE = re.compile(
    r"ok$|NULL value in|CHECK constraint|NUMERIC value|TEXT value|non-|wrong # of entries|row \d"
)
"""Rows that break the rules of their table, or of an index, are all there and read as they are."""


@contextmanager
def undamaged(file: TraceFile, tables: Sequence[str] | None = TABLES_READ) -> Iterator[None]:
    """Check the pages of tables (of the whole file if None) while they are read.

    Raises:
        TraceError: on leaving, if one of them is damaged.
    """
    with (
        closing(
            sqlite3.connect(sqlite_uri(file.path), uri=True, check_same_thread=False)
        ) as connection,
        ThreadPoolExecutor(1) as pool,
    ):
        job = pool.submit(_first_damage, connection, tables)
        try:
            yield
        except BaseException:
            connection.interrupt()
            raise
        damage = job.result()
    if damage is not None:
        raise TraceError(f"{file.named} is a damaged SQLite file: {damage}.", hint=EXPORT_HINT)


def _first_damage(connection: sqlite3.Connection, tables: Sequence[str] | None) -> str | None:
    try:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        there = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        wanted = [None] if tables is None else [name for name in tables if name in there]
        for table in wanted:
            arguments = f"({table})" if table else ""
            for (said,) in connection.execute(f"PRAGMA quick_check{arguments}"):
                lines = [line for line in str(said).splitlines() if not line.startswith("***")]
                damage = next((line for line in lines if not _NO_DAMAGE.match(line)), None)
                if damage is not None:
                    return f"{table}: {damage}" if table else damage
    except sqlite3.Error as error:
        return said_by(error)
    return None
