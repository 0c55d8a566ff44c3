"""Names of the hosts and users behind an export, collected before they are removed from it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

from launchlens.trace.formats.nsys.paths import users_of
from launchlens.trace.formats.nsys.private import quoted, text_columns

_NAMING = re.compile(r"(?i:host|user|computer|login)")
_PERSON = re.compile(
    r"(?:(?<=[\s\0;\"'])|\A)(?:SUDO_USER|USER|USERNAME|LOGNAME|HOST|HOSTNAME|COMPUTERNAME|USERDOMAIN"
    r"|HOME|USERPROFILE)=[\"']?(?P<name>[^\s\0\"';]{1,200})"
)
_SHORTEST = 3
_LONGEST = 64
_MOST = 1000  # each is looked for everywhere
_OF_NOBODY = """
    root user users home admin administrator public default guest owner nobody daemon
    system local localhost localdomain localhost.localdomain host hostname server client
    node container ubuntu debian centos fedora alpine ec2-user runner docker jovyan vscode
    jenkins build builder service app dev test tests work workspace workspaces data
    project projects model models share shared none true false null unknown nvidia cuda
    torch pytorch python python3 triton vllm sglang trtllm tensorrt transformers
    huggingface lib bin usr tmp var opt kernel stream graph launch prefill decode forward
    step batch layer attention memcpy memset cudnn cublas gpu gpus linux windows desktop
    laptop
"""
"""Names of roles, defaults of machines and products: they tell nobody apart, and name kernels."""


def find_names(connection: sqlite3.Connection) -> re.Pattern[str] | None:
    """The names of hosts and users in an export, as a pattern for whole words; None without any.

    They stand in facts of the machine and the recording (``Hostname``, ``USER=…``) and in the paths
    of homes, wherever these are. Names shorter than three letters are not looked
    for, nor the shortest of more than a thousand.
    """
    found: set[str] = set()
    for table, columns in text_columns(connection).items():
        if "name" in columns and "value" in columns:
            rows = connection.execute(f"SELECT name, value FROM {quoted(table)}").fetchall()
            for name, value in rows:
                if isinstance(name, str) and isinstance(value, str) and _NAMING.search(name):
                    found |= set(_forms(value))
        for column in columns:
            values = connection.execute(f"SELECT DISTINCT {quoted(column)} FROM {quoted(table)}")
            for (value,) in values:
                found |= set(_names_in(value))
    return pattern_of(found)


def pattern_of(found: set[str]) -> re.Pattern[str] | None:
    """Names that tell somebody apart, as a pattern for whole words; None without any."""
    names = sorted((n for n in found if _tells_apart(n)), key=len, reverse=True)[:_MOST]
    if not names:
        return None
    listed = "|".join(map(re.escape, names))
    return re.compile(rf"(?<![A-Za-z0-9])(?:{listed})(?![A-Za-z0-9])", re.IGNORECASE)


def _names_in(value: object) -> Iterator[str]:
    if isinstance(value, bytes):
        views = [value.decode("latin-1"), value.replace(b"\0", b"").decode("latin-1")]
    elif isinstance(value, str):
        views = [value]
    else:
        return
    for text in views:
        yield from users_of(text)
        for match in _PERSON.finditer(text):
            yield from _forms(match["name"])


def _forms(value: str) -> Iterator[str]:
    """A name, that of a home's folder, and the first label of a host in a domain."""
    last = re.split(r"[\\/]", value.rstrip("\\/ \n"))[-1]
    yield last
    yield last.split(".", 1)[0]
    yield last.split("@", 1)[0]


def _tells_apart(name: str) -> bool:
    return (
        _SHORTEST <= len(name) <= _LONGEST
        and name.lower() not in _OF_NOBODY.split()
        and not re.fullmatch(r"[\d.:\-]+|\[removed\]|_+", name)
        and re.fullmatch(r"[^\s/\\\x00-\x1f]+", name) is not None
    )
