"""Runs any program under nsys as if it ran by itself: its output, signals and exit code pass on."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from launchlens.capture.command import Tracing, profile_arguments
from launchlens.capture.export import export_sqlite
from launchlens.capture.find import Nsys
from launchlens.capture.foreground import Foreground
from launchlens.capture.importer import run_importer
from launchlens.capture.logs import clean_log, explain_nothing_recorded
from launchlens.capture.pump import Pump
from launchlens.capture.run import read_code, with_suffix
from launchlens.errors import CaptureError

# The program keeps the process id of the inner shell, so that signals reach it and nothing else.
_WRAPPER = (
    "out=$1 err=$2 code=$3; shift 3; "
    'sh -c \'echo $$ >"$1"; shift; exec "$@"\' launchlens "$@" >"$out" 2>"$err"; '
    'status=$?; echo $status >"$code"; exit $status'
)
EXPORT_TIMEOUT_S = 3600.0


@dataclass(frozen=True, slots=True)
class Wrapped:
    """What a program under nsys left.

    Attributes:
        report: nsys's report.
        sqlite: its export.
        command: the nsys command, as one can run it by hand.
        exit_code: what the program ended with, 128 + n where a signal n ended it.
        seconds: how long it ran.
        importer_used: whether the report had to be made from a .qdstrm by hand.
        log: what the program printed.
        nsys_log: what nsys printed.
        processes: process ids that the program was seen to consist of, with their names.
        forked: those of them that were forked and never became another program.
    """

    report: Path
    sqlite: Path
    command: tuple[str, ...]
    exit_code: int
    seconds: float
    importer_used: bool
    log: Path
    nsys_log: Path
    processes: Mapping[int, str]
    forked: frozenset[int] = frozenset()


def wrap(
    nsys: Nsys,
    program: Sequence[str],
    tracing: Tracing,
    *,
    output: Path,
    log: Path,
    environment: Mapping[str, str],
    targets: Sequence[int] = (1, 2),
    timeout_s: float | None = None,
    grace_s: float = 30.0,
    tell: Callable[[str], None] = lambda _line: None,
) -> Wrapped:
    """Runs a program under nsys to its end, and exports what was recorded.

    Signals that reach this process go on to the program; nsys writes what it has when the program
    ends, however it ends. A program that does not heed a request to end is killed.

    Args:
        nsys: what `find_nsys` returned.
        program: the program and its arguments.
        tracing: what to trace, and when.
        output: path of the files to write, without suffix.
        log: file for what the program prints; what nsys prints goes beside it (`.nsys.log`).
        environment: variables for the program in addition to this process's own.
        targets: file descriptors that its standard output and error go on to.
        timeout_s: limit in seconds after which it is asked to end; None: none.
        grace_s: seconds that it has for that.
        tell: called with what the user should know meanwhile.

    Raises:
        NothingRecordedError: nothing was recorded; it holds the program's exit code.
        CaptureError: nsys could not be started, or the report not be imported or exported.
    """
    output, log = output.absolute(), log.absolute()
    nsys_log = log.with_suffix(".nsys.log")
    shown = profile_arguments(nsys, tracing, output=output, program=program)
    for folder in (output.parent, log.parent):
        folder.mkdir(parents=True, exist_ok=True)
    report, qdstrm, sqlite = (
        with_suffix(output, suffix) for suffix in (".nsys-rep", ".qdstrm", ".sqlite")
    )
    for stale in (report, qdstrm, sqlite):
        stale.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="launchlens-") as name:
        folder = Path(name)
        code_file, pid_file = folder / "code", folder / "pid"
        begun = time.monotonic()
        with Pump(folder, log, targets) as pump, nsys_log.open("wb") as nsys_output:
            words = [*map(str, pump.paths), str(code_file), str(pid_file), *program]
            inner = ["/bin/sh", "-c", _WRAPPER, "sh", *words]
            command = profile_arguments(nsys, tracing, output=output, program=inner)
            session = f"launchlens-{os.urandom(4).hex()}"
            command.insert(2, f"--session-new={session}")
            stop = [str(nsys.path), "stop", f"--session={session}"]
            run = Foreground(command, environment, pid_file, code_file, grace_s, tell, stop)
            nsys_code = run.to_end(nsys_output.fileno(), timeout_s)
        seconds = time.monotonic() - begun
        program_code = read_code(code_file)
    clean_log(nsys_log)
    importer_used = False
    if not report.exists():
        if not qdstrm.exists():
            why = explain_nothing_recorded(
                nsys_code, program_code, log, nsys_log, capture_range=tracing.range is not None
            )
            raise NothingRecordedError(why.message, hint=why.hint, program_code=program_code)
        run_importer(nsys.importer, qdstrm, report, timeout_s=EXPORT_TIMEOUT_S)
        qdstrm.unlink()
        importer_used = True
    export_sqlite(report, sqlite, nsys, timeout_s=EXPORT_TIMEOUT_S)
    code = nsys_code if program_code is None else program_code
    return Wrapped(
        report,
        sqlite,
        tuple(shown),
        code,
        seconds,
        importer_used,
        log,
        nsys_log,
        run.processes,
        frozenset(run.forked),
    )


class NothingRecordedError(CaptureError):
    """The program ran, but there is no recording of it."""

    def __init__(self, message: str, *, hint: str | None, program_code: int | None) -> None:
        super().__init__(message, hint=hint)
        self.program_code = program_code
