"""SQLite files as nsys writes them: opened read-only, refused in plain words.

SQLite opens what it reads with ``mode=ro&immutable=1`` (no lock, no journal, no index).
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from launchlens.errors import TraceError
from launchlens.trace.interface import TraceFile

SQLITE_MAGIC = b"SQLite format 3\0"
REPORT_SUFFIXES = (".nsys-rep", ".qdrep", ".qdstrm")
_QUOTED = re.compile(r"(['\"`]).*\1")
_LONGEST_REASON = 200
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


def said_by(error: BaseException) -> str:
    """What a library says of a file, in a line, without what it quotes of the file's content."""
    if isinstance(error, UnicodeError):
        return "a text is not UTF-8"
    return _QUOTED.sub("…", " ".join(str(error).split()))[:_LONGEST_REASON].rstrip(".")


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
        said = f"{file.named} is a damaged SQLite file: {said_by(error)}."
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
        said = f"{file.named} could not be read as an SQLite export: {said_by(error)}."
        raise TraceError(said) from error


def find_odd_cell(file: TraceFile, table: str, expressions: Sequence[str]) -> str | None:
    """The first cell that holds something else than a whole number: its place, not its value."""
    with suppress(sqlite3.Error), closing(connect_read_only(file.path)) as connection:
        for expression in expressions:
            kind = f"typeof({expression})"
            whole = f"CAST({expression} AS INTEGER)"  # texts and reals that say one are read
            query = (
                f"SELECT rowid, {kind} FROM {table} WHERE {kind} NOT IN ('integer', 'null') "
                f"ORDER BY CAST({whole} AS TEXT) = {expression} OR {whole} = {expression} LIMIT 1"
            )
            if found := connection.execute(query).fetchone():
                return f"{expression} of row {found[0]} holds a {found[1]}, not a whole number"
    return None
