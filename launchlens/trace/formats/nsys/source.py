"""SQLite files as nsys writes them: opened read-only, refused in plain words.

SQLite opens what it reads with ``mode=ro&immutable=1`` (no lock, no journal, no index).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from launchlens.errors import TraceError
from launchlens.trace.interface import TraceFile

SQLITE_MAGIC = b"SQLite format 3\0"
REPORT_SUFFIXES = (".nsys-rep", ".qdrep", ".qdstrm")
EXPORT_HINT = "Export the report again: nsys export --type sqlite REPORT.nsys-rep."


def sqlite_uri(path: Path) -> str:
    """URI that opens ``path`` read-only, without locks and without looking for a journal."""
    return f"file:{quote(os.fsencode(path.resolve()))}?mode=ro&immutable=1"


def check_header(file: TraceFile) -> None:
    """Refuse a report, and what is no complete SQLite file, as far as its header tells.

    Raises:
        TraceError: an nsys report, truncated, or being written.
    """
    path, head, named = file.path, file.head, file.named
    if path.suffix in REPORT_SUFFIXES:
        raise TraceError(
            f"{named} is an nsys report, not an SQLite export.",
            hint=f"Run: nsys export --type sqlite --output {named.with_suffix('.sqlite')} {named}",
        )
    size = path.stat().st_size
    page = int.from_bytes(head[16:18], "big") if len(head) >= 100 else 0
    page = 65536 if page == 1 else page
    pages = int.from_bytes(head[28:32], "big")
    counted = head[24:28] == head[92:96]  # the page count is valid only then
    if page < 512 or (counted and pages * page > size):
        raise TraceError(
            f"{named} is truncated: its header announces {pages * page:,} bytes, "
            f"{size:,} are there.",
            hint="Copy it again, or export the report again: nsys export --type sqlite REPORT.",
        )
    for suffix in ("-journal", "-wal"):
        beside = path.with_name(path.name + suffix)
        if beside.exists() and beside.stat().st_size > 0:
            raise TraceError(
                f"{named} is half-written: {beside.name} lies beside it, so an export is still "
                "running or was stopped.",
                hint="Wait for the export to end, or run it again.",
            )


def connect_read_only(path: Path) -> sqlite3.Connection:
    """A connection for looking at the catalogue and at small tables; never writes.

    Texts may be of any encoding: nsys on Windows writes some in that of the machine.
    """
    connection = sqlite3.connect(sqlite_uri(path), uri=True)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return connection


@contextmanager
def looked_through(file: TraceFile) -> Iterator[sqlite3.Connection]:
    """A connection for the catalogue and small tables of a file that may be damaged.

    Raises:
        TraceError: a page that is read is damaged.
    """
    try:
        with closing(connect_read_only(file.path)) as connection:
            yield connection
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        # sqlite3 quotes the damaged text in its message, and may fail to decode that.
        said = f"{file.named} is a damaged SQLite file: {error}."
        raise TraceError(said, hint=EXPORT_HINT) from error


@contextmanager
def opened(file: TraceFile) -> Iterator[sqlite3.Connection]:
    """An export's connection; whatever is wrong with the file ends in a sentence.

    Raises:
        TraceError: the file is incomplete, or damaged where it is read.
    """
    check_header(file)
    try:
        with closing(connect_read_only(file.path)) as connection:
            yield connection
    except (sqlite3.DatabaseError, UnicodeError) as error:
        raise TraceError(f"{file.named} could not be read as an SQLite export: {error}.") from error
