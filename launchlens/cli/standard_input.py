"""``-`` for standard input: what comes in is kept in a temporary file, as traces are read twice."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from launchlens.errors import LaunchlensError, UsageError, reason_of

STANDARD_INPUT = "-"
MOST_BYTES = 64 << 30
"""Traces of hours have some GiB; an endless stream must not fill the disk."""
_PIECE = 1 << 20
_NAME = "stdin"
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")

_kept = ExitStack()
_places: list[Path] = []


def received(names: Sequence[str]) -> list[str]:
    """File names in which "-" has become that of a file with all of standard input.

    Raises:
        UsageError: it is named twice, or is a terminal.
        LaunchlensError: it is closed, empty, too large, or cannot be kept.
    """
    if names.count(STANDARD_INPUT) > 1:
        raise UsageError("Standard input (-) can be read only once.", hint="Name files.")
    return [str(_receive()) if name == STANDARD_INPUT else name for name in names]


def received_file(path: Path) -> Path:
    """The same for one file."""
    return Path(received([str(path)])[0])


def in_words(text: str) -> str:
    """A message in which the temporary file is called what the user knows it as."""
    for place in _places:
        text = text.replace(str(place), "standard input")
    return text


def forget_input() -> None:
    """Remove what was kept."""
    _places.clear()
    _kept.close()


def _receive() -> Path:
    if sys.stdin is None:
        raise LaunchlensError("Standard input is closed.", hint="Name a file.")
    if sys.stdin.isatty():
        raise UsageError("Standard input (-) is a terminal.", hint="Pipe a file into it.")
    try:
        place = Path(_kept.enter_context(tempfile.TemporaryDirectory(prefix="launchlens-")), _NAME)
        _keep(place)
    except OSError as error:
        raise LaunchlensError(
            f"Standard input cannot be kept in {tempfile.gettempdir()}: {reason_of(error)}.",
            hint="Set TMPDIR to a folder with room for it.",
        ) from error
    if place.stat().st_size == 0:
        raise LaunchlensError("Standard input is empty.", hint="Did the command before it fail?")
    if _is_report(place):  # reports are known by their names
        place = place.rename(place.with_suffix(".json"))
    _places.append(place)
    return place


def _keep(place: Path) -> None:
    source = sys.stdin.buffer
    with place.open("wb") as out:
        while piece := source.read(_PIECE):
            if out.tell() + len(piece) > MOST_BYTES:
                raise LaunchlensError(
                    f"Standard input is larger than {MOST_BYTES >> 30} GiB.",
                    hint="Write it to a file and name that.",
                )
            out.write(piece)


def _is_report(place: Path) -> bool:
    """Whether it is JSON that a command wrote, and no trace."""
    from launchlens.trace import is_trace

    with place.open("rb") as source:
        is_json = _JSON.match(source.read(100)) is not None
    return is_json and not is_trace(place)
