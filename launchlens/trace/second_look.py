"""A second opinion on a scrubbed copy: detectors and facts that no cleaner of ours knows of.

The detectors are those of detect-secrets for tokens of a fixed form; its guesses (entropy,
keywords, public addresses) are left out, since names of kernels and versions look alike. What this
machine would give away is taken from the machine: its name, the user, the home folder, and its
environment.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from detect_secrets.plugins.base import BasePlugin

_GUESSES = frozenset(
    ("Base64HighEntropyString", "HexHighEntropyString", "IPPublicDetector", "KeywordDetector")
)
_WINDOW = 4000
_OVERLAP = 300
"""Detectors see so many characters at a time: some of their patterns take quadratic time."""
_ENCODINGS = ("utf-8", "utf-16-le")
_SHORTEST_NAME = 4
_SHORTEST_VALUE = 8
_OF_NOBODY = frozenset(("root", "user", "ubuntu", "admin", "localhost", "runner", "nobody"))
_PUBLIC = re.compile(r"LANG|LANGUAGE|LC_\w+|TERM|COLORTERM|SHELL|EDITOR|PAGER|TZ|SHLVL|_")
_TELLING = re.compile(r"(?=.*[A-Za-z])(?=.*[^A-Za-z])", re.DOTALL)


@cache
def _detectors() -> tuple[BasePlugin, ...]:
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    kinds: dict[str, Any] = get_mapping_from_secret_type_to_class()
    return tuple(kind() for kind in kinds.values() if kind.__name__ not in _GUESSES)


def find_tokens(text: str) -> Iterator[str]:
    """What detect-secrets sees in a text ("GitHub Token"), never the value."""
    for start in range(0, max(len(text), 1), _WINDOW - _OVERLAP):
        part = text[start : start + _WINDOW]
        for detector in _detectors():
            if any(True for _ in detector.analyze_string(part)):
                yield detector.secret_type


class Machine:
    """What a text would give away of the machine and the user that scrub it."""

    def __init__(self) -> None:
        self._values = dict(_values())
        self._names = _pattern(_names())

    def find(self, text: str) -> Iterator[str]:
        """What of it stands in a text, in words that do not repeat the value."""
        if self._names is not None and self._names.search(text):
            yield "the name of this machine or its user"
        for variable, value in self._values.items():
            if value in text:
                yield _said(variable)

    def find_in_file(self, path: Path) -> Iterator[str]:
        """Values of variables anywhere in a file's bytes, as UTF-8 or UTF-16."""
        with path.open("rb") as source, mmap(source.fileno(), 0, access=ACCESS_READ) as raw:
            for variable, value in self._values.items():
                if any(raw.find(value.encode(e, "surrogatepass")) >= 0 for e in _ENCODINGS):
                    yield _said(variable)


def _said(variable: str) -> str:
    return (
        f"the value of the environment variable {variable} (if it is no secret, scrub again with "
        f"env -u {variable})"
    )


def _names() -> Iterator[str]:
    host = socket.gethostname()
    yield from (host, host.split(".", 1)[0])
    with suppress(OSError, KeyError, ImportError):
        import getpass

        yield getpass.getuser()


def _pattern(names: Iterator[str]) -> re.Pattern[str] | None:
    told = {n for n in names if len(n) >= _SHORTEST_NAME and n.lower() not in _OF_NOBODY}
    listed = "|".join(map(re.escape, sorted(told)))
    return re.compile(rf"(?<![A-Za-z0-9])(?:{listed})(?![A-Za-z0-9])", re.I) if told else None


def _values() -> Iterator[tuple[str, str]]:
    for variable, value in os.environ.items():
        if (
            len(value) >= _SHORTEST_VALUE
            and _TELLING.match(value)
            and not _PUBLIC.fullmatch(variable)
        ):
            yield variable, value
    home = str(Path.home()).rstrip("/\\")
    if home.count("/") + home.count("\\") > 1:
        yield "HOME", home
