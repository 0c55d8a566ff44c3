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

from launchlens.cli.settings import current_settings
from launchlens.errors import EXIT_THRESHOLD, LaunchlensError, UsageError
from launchlens.private import without_private, without_secrets
from launchlens.streams import note, put, put_bytes, say

if TYPE_CHECKING:
    from launchlens.records.limits import LimitResult
    from launchlens.render.writer import Format
    from launchlens.report.document import Document

TERMINAL = "terminal"
"""The format that is written if nothing says otherwise."""
_PIPE_WIDTH = 100
_STDOUT = Path("-")


def choose_format(kind: str, named: str | None, output: Path | None) -> str:
    """The format of a report: as ``--format`` says, else the suffix of ``--output``.

    Checks the file too, so that no work is done for a report that could not be written.

    Args:
        kind: of the document.
        named: what ``--format`` says.
        output: the file; None and "-" are standard output.

    Raises:
        UsageError: the two do not agree, the kind has no such format, or it is none for a terminal.
        LaunchlensError: the file cannot be written.
    """
    from launchlens.render import format_named, format_of_file, names_for

    to_file = output not in (None, _STDOUT)
    by_name = format_named(named, kind) if named else None
    by_file = format_of_file(output) if output is not None and to_file else None
    if by_file is not None and not by_file.serves(kind):
        raise UsageError(
            f"{output} is the name of a {by_file.name} file, and this report has no such form.",
            hint=f"It can be {', '.join(names_for(kind))}.",
        )
    if by_name is not None and by_file is not None and by_name is not by_file:
        raise UsageError(
            f"{output} is the name of a {by_file.name} file, and --format says {by_name.name}.",
            hint="Leave out --format, or name the file otherwise.",
        )
    to_eyes = not to_file and sys.stdout is not None and sys.stdout.isatty()
    chosen = by_name or by_file or _usual_format(kind, to_eyes=to_eyes)
    if to_eyes and not chosen.for_eyes:
        raise UsageError(
            f"A terminal cannot show {chosen.name}.",
            hint=f"Name a file: --output report{chosen.suffixes[0]}.",
        )
    check_output(output)
    return chosen.name


def _usual_format(kind: str, *, to_eyes: bool) -> Format:
    """The format of the settings where it can be had, else text for the terminal."""
    from launchlens.render import format_named

    preferred = format_named(current_settings().format or TERMINAL, kind)
    if preferred is not None and (preferred.for_eyes or not to_eyes):
        return preferred
    terminal = format_named(TERMINAL, kind)
    assert terminal is not None, "every kind can go to a terminal"
    return terminal


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

    settings = current_settings()
    if verbose and settings.file is not None:
        note(f"settings of {settings.file}: {settings}")
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
    note(f"wrote {path}")


def _is_trace(path: Path) -> bool:
    from launchlens.trace import is_trace

    return path.is_file() and is_trace(path)


def own_command() -> str:
    """The command line as a reader can repeat it, without what is private."""
    return shlex.join(without_private(without_secrets(["launchlens", *sys.argv[1:]])))
