"""Runs a program, under nsys or plainly, and leaves files or one clear error."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from launchlens.capture.command import Tracing, profile_arguments
from launchlens.capture.export import export_sqlite
from launchlens.capture.find import Nsys
from launchlens.capture.importer import run_importer
from launchlens.capture.logs import clean_log, explain_nothing_recorded, last_line
from launchlens.capture.process import ChildTimeoutError, run_child
from launchlens.errors import CaptureError, reason_of

# Keeps the program's exit status and its output out of nsys's hands: nsys has exited 0 after
# programs that failed, and it stores what they print inside the trace.
_WRAPPER = (
    'log=$1 code=$2; shift 2; "$@" >>"$log" 2>&1; status=$?; echo $status >"$code"; exit $status'
)


@dataclass(frozen=True, slots=True)
class Recording:
    """What one run under nsys left.

    Attributes:
        command: the nsys command, as one can run it by hand.
        exit_code: what nsys ended with.
        program_exit_code: what the program ended with; None when it was ended by nsys.
        seconds: how long the program ran under nsys, without import and export.
        importer_used: whether the report had to be made from a .qdstrm by hand.
        log: what the program printed.
        nsys_log: what nsys printed.
    """

    report: Path
    sqlite: Path
    command: tuple[str, ...]
    exit_code: int
    program_exit_code: int | None
    seconds: float
    importer_used: bool
    log: Path
    nsys_log: Path


def record(
    nsys: Nsys,
    program: Sequence[str],
    tracing: Tracing,
    *,
    output: Path,
    log: Path,
    timeout_s: float = 600.0,
) -> Recording:
    """Runs a program under nsys and exports what was recorded.

    A program that failed after something was recorded is no error: look at `program_exit_code`.

    Args:
        nsys: what `find_nsys` returned.
        program: the program and its arguments.
        tracing: what to trace; with stacks the export keeps NVTX payloads.
        output: path of the files to write, without suffix; older ones are replaced.
        log: file for what the program prints; what nsys prints goes beside it (`.nsys.log`).
        timeout_s: limit in seconds for the program under nsys, and for import and export.

    Raises:
        CaptureError: nothing was recorded (quoting the program's last line), the time was up,
            or the report could not be imported or exported.
        KeyboardInterrupt: passed on, with nsys and the program ended.
    """
    output, log = output.absolute(), log.absolute()
    code_file, nsys_log = with_suffix(output, ".exit"), log.with_suffix(".nsys.log")
    wrapped = ["/bin/sh", "-c", _WRAPPER, "sh", str(log), str(code_file), *program]
    shown, command = (
        profile_arguments(nsys, tracing, output=output, program=what) for what in (program, wrapped)
    )
    report, qdstrm, sqlite = (
        with_suffix(output, suffix) for suffix in (".nsys-rep", ".qdstrm", ".sqlite")
    )
    _prepare(logs=(log, nsys_log), stale=(report, qdstrm, sqlite, code_file))
    started = time.monotonic()
    try:
        code = _run_logged(command, nsys_log, timeout_s, program=program, log=log)
        seconds = time.monotonic() - started
        program_code = read_code(code_file)
    finally:
        clean_log(log)
        code_file.unlink(missing_ok=True)
    importer_used = False
    if not report.exists():
        if not qdstrm.exists():
            raise explain_nothing_recorded(
                code, program_code, log, nsys_log, capture_range=tracing.cuda
            )
        run_importer(nsys.importer, qdstrm, report, timeout_s=timeout_s)
        qdstrm.unlink()
        importer_used = True
    export_sqlite(report, sqlite, nsys, include_blobs=tracing.stacks, timeout_s=timeout_s)
    command_line = tuple(shown)
    return Recording(
        report, sqlite, command_line, code, program_code, seconds, importer_used, log, nsys_log
    )


def run_plain(program: Sequence[str], *, log: Path, timeout_s: float = 600.0) -> int:
    """Runs a program without nsys, its output in a log, and returns its exit status.

    Raises:
        CaptureError: it could not be started or did not end in time.
        KeyboardInterrupt: passed on, with the program and all that it started ended.
    """
    log = log.absolute()
    _prepare(logs=(log,), stale=())
    return _run_logged(program, log, timeout_s, program=program, log=log)


def _run_logged(
    command: Sequence[str], file: Path, timeout_s: float, *, program: Sequence[str], log: Path
) -> int:
    # A program that is killed would otherwise take its last lines with it.
    environment = {"PYTHONUNBUFFERED": "1", **os.environ}
    try:
        with file.open("wb") as handle:
            return run_child(command, output=handle, timeout_s=timeout_s, env=environment)
    except ChildTimeoutError:
        said = last_line(log)
        raise ChildTimeoutError(
            f"{_short(program)} did not end within {timeout_s:g} s"
            f"{f', its last line was: {said}' if said else ''}.",
            hint=f"Everything it had started was stopped; its output is in {log}.",
        ) from None
    finally:
        clean_log(file)


def _prepare(*, logs: tuple[Path, ...], stale: tuple[Path, ...]) -> None:
    """Makes the folders, empties the logs and removes what an earlier run left in the way."""
    for path in (*logs, *stale):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path in logs:
                path.write_bytes(b"")
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise CaptureError(
                f"{path} cannot be written: {reason_of(error)}.",
                hint="Choose a folder that can be written to.",
            ) from error


def read_code(file: Path) -> int | None:
    """The number that a wrapper wrote to a file; None where there is none (yet)."""
    try:
        return int(file.read_text())
    except (OSError, ValueError):  # the wrapper was killed before it could write
        return None


def with_suffix(path: Path, suffix: str) -> Path:
    """Adds a suffix, keeping dots that belong to the name ("qwen3-0.6b")."""
    return path.with_name(path.name + suffix)


def _short(program: Sequence[str]) -> str:
    """A command in a sentence: whole paths would hide what it is."""
    text = " ".join(Path(word).name if word.startswith("/") else word for word in program)
    return text if len(text) <= 80 else text[:79] + "…"
