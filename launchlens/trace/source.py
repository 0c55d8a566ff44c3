"""From what the user named to a readable SQLite file: compression, sniffing, plain refusals.

The user's file is never written to: a compressed trace is unpacked into a temporary file, and
SQLite opens what it reads with ``mode=ro&immutable=1`` (no lock, no journal, no index).
"""

from __future__ import annotations

import contextlib
import gzip
import lzma
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast
from urllib.parse import quote

from launchlens.errors import TraceError

SQLITE_MAGIC = b"SQLite format 3\0"
COMPRESSED_MAGICS = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
REPORT_SUFFIXES = (".nsys-rep", ".qdrep", ".qdstrm")
_EXPORT_HINT = "Export the report again: nsys export --type sqlite REPORT.nsys-rep."


def sqlite_uri(path: Path) -> str:
    """URI that opens ``path`` read-only, without locks and without looking for a journal."""
    return f"file:{quote(os.fsencode(path.resolve()))}?mode=ro&immutable=1"


@contextlib.contextmanager
def open_source(path: Path) -> Iterator[Path]:
    """A plain SQLite file with the contents of ``path``, checked as far as its header tells.

    Args:
        path: an nsys SQLite export, or one compressed with gzip, xz or zstd (told by its first
            bytes, not by its name).

    Raises:
        TraceError: no such file, not a trace, truncated, being written, not unpackable.
    """
    head = _read_head(path)
    kind = next((k for magic, k in COMPRESSED_MAGICS.items() if head.startswith(magic)), None)
    if kind is None:
        check_header(path, head, named=path)
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="launchlens-") as folder:
        plain = Path(folder) / "trace.sqlite"
        _unpack(path, kind, plain)
        with plain.open("rb") as unpacked:
            check_header(plain, unpacked.read(100), named=path)
        yield plain


def _read_head(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise TraceError(f"{path} is a folder, not a trace.", hint="Name a file in it.")
        with path.open("rb") as source:
            head = source.read(100)
    except FileNotFoundError:
        raise TraceError(f"{path}: no such file.", hint="Check the path.") from None
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror or error}.") from error
    if not head:
        raise TraceError(f"{path} is empty: the export never finished.", hint=_EXPORT_HINT)
    return head


def check_header(path: Path, head: bytes, *, named: Path) -> None:
    """Refuse what is no complete SQLite file; ``named`` is what the user called it."""
    if path.suffix in REPORT_SUFFIXES:
        raise TraceError(
            f"{named} is an nsys report, not an SQLite export.",
            hint=f"Run: nsys export --type sqlite --output {named.with_suffix('.sqlite')} {named}",
        )
    if not head.startswith(SQLITE_MAGIC):
        raise TraceError(
            f"{named} is not an SQLite file (or it is encrypted): it does not begin with "
            "SQLite's signature.",
            hint=_EXPORT_HINT,
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


def _unpack(path: Path, kind: str, plain: Path) -> None:
    try:
        with _open_compressed(path, kind) as packed, plain.open("wb") as out:
            shutil.copyfileobj(packed, out, 1 << 20)
    except (EOFError, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise TraceError(f"{path} is a damaged or truncated {kind} file: {error}.") from error
    except OSError as error:
        if error.errno is None:  # zlib's and zstandard's own complaints
            raise TraceError(f"{path} is a damaged {kind} file: {error}.") from error
        raise TraceError(
            f"{path} cannot be unpacked into {plain.parent}: {error.strerror}.",
            hint="Set TMPDIR to a folder with room for the plain trace.",
        ) from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("zlib", "zstandard"):
            raise
        raise TraceError(f"{path} is a damaged or truncated {kind} file: {error}.") from error
    if plain.stat().st_size == 0:
        raise TraceError(f"{path} holds nothing once unpacked.", hint=_EXPORT_HINT)


def _open_compressed(path: Path, kind: str) -> contextlib.AbstractContextManager[IO[bytes]]:
    if kind == "gzip":
        return cast("contextlib.AbstractContextManager[IO[bytes]]", gzip.open(path, "rb"))
    if kind == "xz":
        return lzma.open(path, "rb")
    import zstandard

    return cast("contextlib.AbstractContextManager[IO[bytes]]", zstandard.open(path, "rb"))


def connect_read_only(path: Path) -> sqlite3.Connection:
    """A connection for looking at the catalogue and at small tables; never writes."""
    return sqlite3.connect(sqlite_uri(path), uri=True)
