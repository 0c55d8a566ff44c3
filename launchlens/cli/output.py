"""Where a report goes: the terminal, or a file."""

from __future__ import annotations

import io
import os
import shutil
import sys
from pathlib import Path

from launchlens.errors import LaunchlensError

_PIPE_WIDTH = 100


def terminal_width() -> int:
    """Columns of the terminal; 100 in pipes, unless COLUMNS says otherwise."""
    return shutil.get_terminal_size((_PIPE_WIDTH, 24)).columns


def wants_color(output: Path | None) -> bool:
    """Whether to colour: a terminal, and NO_COLOR not set."""
    return output is None and sys.stdout.isatty() and "NO_COLOR" not in os.environ


def write(text: str, output: Path | None) -> None:
    """Print a report, or write it to a file and say so on standard error.

    Raises:
        LaunchlensError: the file cannot be written.
    """
    if output is None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # terminals that know no arrows
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise LaunchlensError(
            f"{output} cannot be written: {error.strerror}.", hint="Choose another --output."
        ) from error
    sys.stderr.write(f"wrote {output}\n")
