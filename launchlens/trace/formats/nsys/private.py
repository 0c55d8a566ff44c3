"""Private values in an export: how a value is cleaned, and which ones are left.

A text loses what is private; a binary payload keeps its length, so that offsets inside it stay
right, and what is private in it is masked. Both are searched as they are, and as UTF-16.
"""

from __future__ import annotations

import re
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from launchlens.trace.formats.nsys.paths import find_folders, find_urls
from launchlens.trace.formats.nsys.shapes import (
    REMOVED,
    SHAPES,
    Shape,
    find_assignments,
    is_environment,
)

_RUN = re.compile(r"[^\x00-\x08\x0e-\x1f\x7f]{6,}", re.ASCII)
_WIDE = re.compile(rb"(?:[\t\x20-\x7e]\0){3}")
_HEXADECIMAL = re.compile(r"(?:[0-9A-Fa-f]{2}){8,}")
_LONG, _LONGEST, _MOST = 8, 512, 1000
"""A secret is looked for elsewhere where it has so many letters, and so many are."""
_DEEP = 2

Span = tuple[int, int]
Finder = Callable[[str], Iterable[Span]]


@dataclass(frozen=True, slots=True)
class Cleaner:
    """Cleans values.

    Attributes:
        names: hosts and users, which go wherever they stand.
        secrets: what was removed as a secret, to go wherever else it stands.
        folders: absolute folders that were removed.
    """

    names: re.Pattern[str] | None = None
    secrets: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)

    def value(self, value: str | bytes) -> str | bytes:
        """A text, or the bytes of a payload, without what is private."""
        return self.payload(value) if isinstance(value, bytes) else self.text(value)

    def text(self, text: str) -> str:
        """A text without secrets, addresses, folders and names; nothing of an environment."""
        if is_environment(text):
            return ""
        if _HEXADECIMAL.fullmatch(text):
            payload = bytes.fromhex(text)
            cleaned = self.payload(payload)
            return text if cleaned == payload else cleaned.hex()
        if "\0" in text:
            raw = text.encode("utf-8", "surrogateescape")
            text = self.payload(raw).decode("utf-8", "surrogateescape")
        for finder in self._secrets():
            text = _replaced(text, finder(text), lambda _: REMOVED)
        text = _replaced(text, find_folders(text), self._gone)
        return _replaced(text, self._named(text), lambda _: REMOVED)

    def payload(self, payload: bytes) -> bytes:
        """Bytes of the same length, in which what is private is masked."""
        text = payload.decode("latin-1")
        masked = _RUN.sub(lambda m: self._masked(m[0]), text)
        if masked != text:
            payload = masked.encode("latin-1")
        return self._wide(payload) if _WIDE.search(payload) else payload

    def _wide(self, payload: bytes) -> bytes:
        """The same for texts of two bytes a character, of either byte order, at any offset."""
        for first in (0, 1):
            text = _as_wide(payload, first)
            masked = _RUN.sub(lambda m: self._masked(m[0]), text)
            if masked != text:
                changed = array("H", map(ord, masked)).tobytes()
                payload = (payload[:first] + changed)[: len(payload)]
        return payload

    def _masked(self, text: str) -> str:
        for finder in self._secrets():
            text = _replaced(text, finder(text), lambda part: "_" * len(part))
        text = _replaced(text, find_folders(text), lambda part: _masked_folders(part, self._gone))
        return _replaced(text, self._named(text), lambda part: "_" * len(part))

    def _secrets(self) -> Iterator[Finder]:
        yield find_urls
        for shape in SHAPES:
            yield partial(self._found, shape)
        yield find_assignments

    def _found(self, shape: Shape, text: str) -> Iterator[Span]:
        for start, end in shape.find(text):
            if shape.everywhere and _LONG <= end - start <= _LONGEST:
                self.secrets.add(text[start:end])
            yield start, end

    def _gone(self, part: str) -> str:
        if part.startswith("/") and part.endswith("/") and part.count("/") > _DEEP:
            self.folders.add(part)
        return ""

    def without_secrets(self) -> Cleaner:
        """A cleaner for a second time, which finds what was a secret elsewhere."""
        found = sorted(self.secrets, key=len, reverse=True)[:_MOST]
        return Cleaner(re.compile("|".join(map(re.escape, found)))) if found else Cleaner()

    def _named(self, text: str) -> Iterator[Span]:
        if self.names is not None:
            for match in self.names.finditer(text):
                yield match.span()


def _as_wide(payload: bytes, first: int) -> str:
    """A payload read as two bytes a character from an offset on; a zero ends an odd one."""
    whole = payload + b"\0" * ((len(payload) - first) % 2)
    return "".join(map(chr, array("H", whole[first:])))


def _replaced(text: str, spans: Iterable[Span], instead: Callable[[str], str]) -> str:
    parts, at = [], 0
    for start, end in sorted(spans):
        if end <= at:
            continue
        begin = max(start, at)
        parts += [text[at:begin], instead(text[begin:end])]
        at = end
    return "".join([*parts, text[at:]]) if parts else text


def _masked_folders(part: str, gone: Callable[[str], str]) -> str:
    gone(part)
    inside = "_" * (len(part) - 2)
    return f"{part[0]}{inside}{part[-1]}" if part[-1] in "/\\" else f"{part[0]}_{inside}"


def runs_of(value: str | bytes) -> list[str]:
    """The texts in a value: as it is, and of two bytes a character."""
    raw = value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
    texts = _RUN.findall(value.decode("latin-1")) if isinstance(value, bytes) else [value]
    if _WIDE.search(raw):
        texts += [run for first in (0, 1) for run in _RUN.findall(_as_wide(raw, first))]
    return texts


def strip_folders(text: str) -> str:
    """A text in which every absolute path has shrunk to its last part (see `find_folders`)."""
    return _replaced(text, find_folders(text), lambda _: "")


def quoted(name: str) -> str:
    """A name of a table or column, for SQL."""
    return '"' + name.replace('"', '""') + '"'


def tables_of(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """The tables of an export with their columns."""
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {
        table: [row[1] for row in connection.execute(f"PRAGMA table_info({quoted(table)})")]
        for (table,) in tables
    }


def text_columns(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """The columns that hold any text or binary value, found by one scan of each table."""
    found = {}
    for table, names in tables_of(connection).items():
        kinds = ", ".join(f"max(typeof({quoted(n)}) IN ('text', 'blob'))" for n in names)
        if not names:
            continue
        flags = connection.execute(f"SELECT {kinds} FROM {quoted(table)}").fetchone()
        found[table] = [name for name, holds in zip(names, flags, strict=True) if holds]
    return found


def as_text(raw: bytes) -> str:
    """Text of any encoding; what is not UTF-8 survives the way back."""
    return raw.decode("utf-8", "surrogateescape")
