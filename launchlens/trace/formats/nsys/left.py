"""What a scrubbed export still shows, looked for apart from how it was removed."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator

from launchlens.trace.formats.nsys.private import (
    as_text,
    quoted,
    runs_of,
    tables_of,
    text_columns,
)
from launchlens.trace.formats.nsys.shapes import SHAPES, find_assignments, is_environment
from launchlens.trace.formats.nsys.source import opened
from launchlens.trace.interface import TraceFile
from launchlens.trace.second_look import Machine, find_tokens

_PATHS = (
    re.compile(r"(?<![\w.:/\])>_~])/(?:[\w.\-+@~]+/)+[\w.\-+@~]+", re.ASCII),
    re.compile(r"(?<![A-Za-z])[A-Za-z]:\\+[\w.\-+@~ ]+\\", re.ASCII),
    re.compile(r"[\\/](?:home|Users)[\\/]+[A-Za-z0-9]", re.ASCII),
)
_MASKED = re.compile(r"[\\/]_+")
_WORD = re.compile(r"[^\s\"'`=,;:()<>\[\]{}|\x00-\x1f]+")
_SEPARATOR = re.compile(r"[\\/]")
_MOST_FOLDERS = 40


def find_secrets(file: TraceFile) -> list[str]:
    """What in an export still looks as if it should not be shared.

    One line for each suspicious value: table, column, row and what it looks like, never the value.

    Raises:
        TraceError: the export cannot be read.
    """
    machine = Machine()
    with opened(file) as connection:
        found = [
            f"{place}: {what}"
            for place, value in _values(connection)
            for what in _suspicions(value, machine)
        ]
        told = " ".join(found)
        found += [w for w in machine.find_in_file(file.path) if w not in told]
        if "ProcessStreams" in tables_of(connection):
            (streams,) = connection.execute("SELECT count(*) FROM ProcessStreams").fetchone()
            if streams:
                found.append(f"ProcessStreams: the output of {streams} streams")
    return found


def find_left_over(connection: sqlite3.Connection, removed: Iterable[str]) -> list[str]:
    """Places at which something still stands that was removed from another."""
    gone = frozenset(removed)
    if not gone:
        return []
    return [
        f"{place}: what was removed elsewhere"
        for place, value in _values(connection)
        if any(not gone.isdisjoint(_pieces(text)) for text in runs_of(value))
    ]


def _values(connection: sqlite3.Connection) -> Iterator[tuple[str, str | bytes]]:
    """Each different text and payload, and where it stands first."""
    connection.text_factory = as_text
    for table, names in text_columns(connection).items():
        for name in names:
            column = quoted(name)
            rows = connection.execute(
                f"SELECT min(rowid), {column} FROM {quoted(table)} "
                f"WHERE typeof({column}) IN ('text', 'blob') GROUP BY {column}"
            )
            for row, value in rows:
                yield f"{table}.{name}, row {row}", value


def _suspicions(value: str | bytes, machine: Machine) -> list[str]:
    """What a value looks like, as it is and as UTF-16."""
    found = []
    for text in runs_of(value):
        if is_environment(text) or find_assignments(text):
            found.append("an environment")
        found += [shape.title for shape in SHAPES if any(shape.find(text))]
        hits = (hit for pattern in _PATHS for hit in pattern.finditer(text))
        if any(not _MASKED.match(hit[0]) for hit in hits):
            found.append("an absolute path")
        found += [*find_tokens(text), *machine.find(text)]
    return list(dict.fromkeys(found))


def _pieces(text: str) -> Iterator[str]:
    """The words of a text, and every folder within them."""
    for match in _WORD.finditer(text):
        word = match[0]
        yield word
        cuts = [m.end() for m in _SEPARATOR.finditer(word)][:_MOST_FOLDERS]
        yield from (word[a - 1 : b] for i, a in enumerate(cuts) for b in cuts[i + 1 :])
