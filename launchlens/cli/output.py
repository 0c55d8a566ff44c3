"""Where a report goes: the terminal, or a file; and how a command ends that holds limits."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from launchlens.errors import EXIT_THRESHOLD, LaunchlensError
from launchlens.private import without_private
from launchlens.streams import put, put_bytes, say

if TYPE_CHECKING:
    from launchlens.records.limits import LimitResult
    from launchlens.report.document import Document

_PIPE_WIDTH = 100
_STDOUT = Path("-")


def terminal_width() -> int:
    """Columns of the terminal; 100 in pipes, unless COLUMNS says otherwise."""
    return shutil.get_terminal_size((_PIPE_WIDTH, 24)).columns


def wants_color(output: Path | None) -> bool:
    """Whether to colour: a terminal, and NO_COLOR not set."""
    return (
        output is None and bool(sys.stdout and sys.stdout.isatty()) and "NO_COLOR" not in os.environ
    )


def show(document: Document, name: str, output: Path | None, *, verbose: bool = False) -> None:
    """Write a report in the format of that name to a file; None prints it.

    Raises:
        LaunchlensError: the file cannot be written.
    """
    from launchlens.render import write as write_document

    width, color = terminal_width(), wants_color(output)
    text = write_document(document, name, verbose=verbose, width=width, color=color)
    write(text, output)


def write(text: str, output: Path | None) -> None:
    """Print a report, or write it to a file and say so on standard error.

    Raises:
        LaunchlensError: the file cannot be written.
    """
    if output in (None, _STDOUT):
        put(text)
        return
    assert output is not None
    save(text.encode(), output, option="--output")


def end_if_broken(results: Sequence[LimitResult]) -> None:
    """Say on standard error which limits are broken, and exit with 3 if any is."""
    from launchlens.report.limits import describe_limit

    broken = [result for result in results if not result.passed]
    for result in broken:
        say(describe_limit(result))
    if broken:
        raise typer.Exit(EXIT_THRESHOLD)


def check_output(output: Path | None) -> None:
    """Refuse a file that cannot be written, before minutes of work are done for it.

    Raises:
        LaunchlensError: its folder is not there or not writable, or it is a folder or a trace.
    """
    if output in (None, _STDOUT):
        return
    assert output is not None
    folder = output.parent
    reason = None
    if output.is_dir():
        reason = "it is a folder"
    elif not folder.is_dir():
        reason = f"there is no folder {folder}"
    elif not os.access(output if output.exists() else folder, os.W_OK):
        reason = "permission denied"
    elif _is_trace(output):
        reason = "it is a trace"
    if reason:
        raise LaunchlensError(
            f"{output} cannot be written: {reason}.", hint="Choose another --output."
        )


def save(data: bytes, path: Path, *, option: str) -> None:
    """Write a file, or replace an older one, and say so on standard error; "-" is standard output.

    ``option`` is what named the file, for the error.

    Raises:
        LaunchlensError: the file cannot be written, or is a trace: reports never replace those.
    """
    if path == _STDOUT:
        put_bytes(data)
        return
    try:
        if _is_trace(path):
            raise LaunchlensError(
                f"{path} is a trace, and a report would replace it.",
                hint=f"Choose another {option}.",
            )
        path.write_bytes(data)
    except OSError as error:
        raise LaunchlensError(
            f"{path} cannot be written: {error.strerror}.", hint=f"Choose another {option}."
        ) from error
    say(f"wrote {path}")


def _is_trace(path: Path) -> bool:
    from launchlens.trace import is_trace

    return path.is_file() and is_trace(path)


def own_command() -> str:
    """The command line as a reader can repeat it, without what is private."""
    return shlex.join(without_private(["launchlens", *sys.argv[1:]]))
