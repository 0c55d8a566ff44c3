"""Private values in an export: how they look, how a value is cleaned, which ones are left."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator

from launchlens.trace.formats.nsys.source import opened
from launchlens.trace.interface import TraceFile

_FOLDERS = re.compile(r"(?<![\w.\]>)])/(?:[\w.\-+@~ ]*[\w.\-+@~]/)+(?=[\w.\-+@~<])")
_PACKAGE = re.compile(r".*/(?:site|dist)-packages/|.*/lib/(?=python3)")
_FOLDER_BYTES = re.compile(rb"(?<![\w.])/(?:[\w.\-+@~]+/)+")
_ASSIGNMENT = re.compile(r"\b[A-Z][A-Z0-9_]{2,}=")
_ENVIRONMENT_SIZE = 3
_TOKENS = re.compile(
    r"\b(?:gh[pousr]_|github_pat_|hf_|sk-|xox[bp]-|AKIA|glpat-)[A-Za-z0-9_\-]{12,}"
    r"|\b[A-Z0-9_]*(?:TOKEN|SECRET|PASSWORD|API_KEY)[A-Z0-9_]*\s*[=:]"
)
_ABSOLUTE = re.compile(r"(?<![\w.:/\])>])/(?:[\w.\-+@~]+/)+[\w.\-+@~]+")


def find_secrets(file: TraceFile) -> list[str]:
    """What in an export still looks as if it should not be shared.

    One line for each suspicious value: table, column, what it looks like, and its beginning.

    Raises:
        TraceError: the export cannot be read.
    """
    found: list[str] = []
    with opened(file) as connection:
        columns = columns_of(connection)
        for table, names in columns.items():
            for name in names:
                query = f'SELECT DISTINCT "{name}" FROM "{table}" WHERE typeof("{name}") IN '
                for (value,) in connection.execute(query + "('text', 'blob')"):
                    found.extend(f"{table}.{name}: {line}" for line in _suspicions(value))
        if "ProcessStreams" in columns:
            (streams,) = connection.execute("SELECT count(*) FROM ProcessStreams").fetchone()
            if streams:
                found.append(f"ProcessStreams: the output of {streams} streams")
    return found


def strip_folders(text: str) -> str:
    """A text in which every absolute path has shrunk to its last part.

    What lies in a Python package keeps its place there (``torch/cuda/streams.py``), so that a
    stack still tells a library's frames from a program's.
    """
    return _FOLDERS.sub(lambda m: _PACKAGE.sub("", m[0]) if _PACKAGE.match(m[0]) else "", text)


def mask_folders(payload: bytes) -> bytes:
    """Bytes of the same length in which the folders of every absolute path are masked."""
    return _FOLDER_BYTES.sub(lambda m: b"/" + b"_" * (len(m[0]) - 2) + b"/", payload)


def columns_of(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """The tables of an export with their columns."""
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {
        table: [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
        for (table,) in tables
    }


def clean_value(value: str | bytes) -> str | bytes:
    """A text or payload without folders; nothing of an environment or a token."""
    if isinstance(value, bytes):
        return mask_folders(value)
    if len(_ASSIGNMENT.findall(value)) >= _ENVIRONMENT_SIZE or _TOKENS.search(value):
        return ""
    return strip_folders(value)


def _suspicions(value: str | bytes) -> Iterator[str]:
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    if len(_ASSIGNMENT.findall(text)) >= _ENVIRONMENT_SIZE:
        yield f"environment: {text[:40]!r}"
    for pattern, what in ((_TOKENS, "token"), (_ABSOLUTE, "path")):
        yield from (f"{what}: {hit[:60]!r}" for hit in _hits(pattern, text))


def _hits(pattern: re.Pattern[str], text: str) -> Iterable[str]:
    """Matches, without masked paths of binary payloads (`/____/name`)."""
    return (m[0] for m in pattern.finditer(text) if not re.match(r"/_+/", m[0]))
