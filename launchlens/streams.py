"""Standard output and standard error: what may be written there, and what if they are gone."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

from launchlens.errors import LaunchlensError, reason_of

_quiet: ContextVar[bool] = ContextVar("quiet", default=False)
_COMMAND = re.compile(r"^([^\S\n]*)::|##\[", re.MULTILINE)


def inert(text: str) -> str:
    """Text in which no line is a command to GitHub's runner, which reads every log.

    A runner obeys lines that begin with "::" and "##[" anywhere: names of kernels and ranges, and
    what reports of others hold, could be that.
    """
    return _COMMAND.sub(lambda found: "# #[" if found[1] is None else f"{found[1]}∷", text)


def put(text: str) -> None:
    """Print on standard output.

    Raises:
        LaunchlensError: it is closed or full.
    """
    if sys.stdout is None:
        raise LaunchlensError("Standard output is closed.", hint="Name a file with --output.")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # terminals that know no arrows
    with _told():
        sys.stdout.write(inert(text))
        sys.stdout.flush()


def put_bytes(data: bytes) -> None:
    """Write a file's contents to standard output.

    Raises:
        LaunchlensError: it is closed or full.
    """
    if sys.stdout is None:
        raise LaunchlensError("Standard output is closed.", hint="Name a file.")
    with _told():
        sys.stdout.buffer.write(data)
        sys.stdout.flush()


def be_quiet(quiet: bool) -> None:
    """Whether what `note` tells is left out from now on."""
    _quiet.set(quiet)


def is_quiet() -> bool:
    """Whether notes are left out."""
    return _quiet.get()


def note(line: str) -> None:
    """A line on standard error that one can do without, such as progress: ``--quiet`` drops it."""
    if not is_quiet():
        say(line)


def say(line: str) -> None:
    """A line on standard error, without control characters; in silence where that is gone."""
    from launchlens.report.words import clean

    with contextlib.suppress(OSError, AttributeError):
        sys.stderr.write(inert("\n".join(map(clean, line.splitlines()))) + "\n")
        sys.stderr.flush()


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Turns a full disk into a sentence; a reader that has gone is its own affair."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_output()
        raise LaunchlensError(f"Standard output cannot be written: {reason_of(error)}.") from error


def drop_output() -> None:
    """What is still to be written goes nowhere: at its end Python would complain of it."""
    with contextlib.suppress(OSError, AttributeError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def keep_places() -> None:
    """Open what was closed, so that no file of ours gets the number of a standard stream."""
    while (number := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    os.close(number)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to the end
