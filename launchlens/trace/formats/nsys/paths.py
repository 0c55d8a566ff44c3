"""Paths in texts: POSIX, Windows and UNC, with any punctuation. Their folders go, names stay.

Where it is not sure how far a path reaches, more is removed and not less. Patterns run in linear
time: what they have passed they do not try again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_PART = r"[^/\s\"\x00-\x1f]++(?:[ ]{1,2}[^/\s\"\x00-\x1f]++){0,8}+"
_WINDOWS_PART = r"[^\\/\s\"\x00-\x1f]++(?:[ ]{1,2}[^\\/\s\"\x00-\x1f]++){0,8}+"
_ROOTS = (
    "home|Users|root|tmp|var|opt|usr|etc|mnt|media|srv|data|work|workspace|scratch|project|projects|"
    "lustre|gpfs|nfs|proc|dev|run|app|private|Volumes|content|nix|snap|net|export|storage|cluster"
)
_POSIX = re.compile(
    rf"(?:(?<![\w.)\]>/\\])(?:~[\w.-]{{0,32}}|\.{{1,2}})?/{{1,3}}|/(?=(?:{_ROOTS})/))"
    rf"(?P<folders>(?:{_PART}/++)++)(?P<last>[^/\s\"\x00-\x1f]*+)",
    re.ASCII,
)
_WINDOWS = re.compile(
    r"(?:(?:\\{2,4}[?.]\\{1,2})?(?:[A-Za-z]:\\+|(?<![A-Za-z0-9])[A-Za-z]:/+)|\\(?=Users\\)"
    r"|(?P<share>(?<!\\)\\{2,4}))"
    rf"(?P<folders>(?:{_WINDOWS_PART}[\\/]++)*+)(?P<last>[^\\/\s\"\x00-\x1f]*+)",
    re.ASCII,
)
_TILDE = re.compile(r"(?<![\w.)\]>/~])~[\w.-]{1,32}/", re.ASCII)
_RELATIVE = re.compile(
    r"(?<![\w\\/.:+$@-])(?P<drive>[A-Za-z]:)?(?P<folders>(?:[\w.+$@-]++\\{1,2})++)(?P<last>[\w.+$@-]++)",
    re.ASCII,
)
"""Of a drive's folder, of a user in a domain (``CORP\\ada``), or of no known folder at all."""
_ESCAPE = re.compile(r"[\w.+$@-]*[a-z0-9.+$@-]\\{1,2}[nrt]")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}:/{2,3}(?P<address>[^\s\"'<>\x00-\x1f]+)", re.ASCII)
_PACKAGE = re.compile(
    r".*[\\/](?:site|dist)-packages[\\/]+(?P<a>.*)|.*[\\/][Ll]ib[\\/](?P<b>python3.*)", re.DOTALL
)
_PACKAGE_FOLDERS = re.compile(r"(?:(?!\.\.)[\w.+-]+[\\/]+)*")
_HOMES = re.compile(
    r"(?:.*[\\/])?(?:home|(?i:users|documents and settings))[\\/]+", re.DOTALL | re.ASCII
)
_HOME_OF = re.compile(
    r"(?:/(?:home|Users)/|[A-Za-z]:[\\/]+(?i:users|documents and settings)[\\/]+)"
    r"(?P<user>[^/\\\s\"':;,\x00-\x1f]{1,64})"
)


def find_urls(text: str) -> Iterator[tuple[int, int]]:
    """Where addresses lie: what follows ``https:``, with user, host and query."""
    for match in _URL.finditer(text):
        yield match.start("address"), match.end()


def find_folders(text: str) -> Iterator[tuple[int, int]]:
    """What of paths has to go: their folders, and the whole of a path to somebody's home.

    What lies in a Python package keeps its place there (``torch/cuda/streams.py``), so that a
    stack still tells a library's frames from a program's.
    """
    for pattern in (_WINDOWS, _POSIX):
        for match in pattern.finditer(text):
            end = _end_of_private(match)
            if end > match.start():
                yield match.start(), end
    for match in _TILDE.finditer(text):
        yield match.span()
    for match in _RELATIVE.finditer(text):
        if match["drive"] or not _ESCAPE.match(match[0]):
            is_file = "." in match["last"]
            yield match.start(), match.start("last") if is_file else match.end()


def _end_of_private(match: re.Match[str]) -> int:
    folders, last = match["folders"], match["last"]
    begin = match.start("folders")
    if "share" in match.re.groupindex and match["share"] and not last and not folders:
        return match.start()
    if not last or _HOMES.fullmatch(folders) or (_is_share(match) and _count(folders) < 2):
        return match.end()
    package = _PACKAGE.fullmatch("/" + folders)
    if package:
        inside = package["a"] if package["a"] is not None else package["b"]
        if _PACKAGE_FOLDERS.fullmatch(inside):
            return begin + len(folders) - len(inside)
    return match.start("last")


def _is_share(match: re.Match[str]) -> bool:
    return "share" in match.re.groupindex and match["share"] is not None


def _count(folders: str) -> int:
    return len(re.findall(r"[\\/]+", folders))


def users_of(text: str) -> set[str]:
    """Names of users, as the paths of their homes tell them."""
    return {match["user"] for match in _HOME_OF.finditer(text)}
