"""What programs and nsys leave in their logs, and what it says of a failure."""

from __future__ import annotations

import contextlib
import re
import signal
from pathlib import Path

from launchlens.errors import CaptureError

_MOST = 300  # characters of a line that is quoted
_PROGRESS = re.compile(r"\[[=\s]*\d+%[=\s]*\]?\s*$")


def clean_log(log: Path) -> None:
    """Rewrites a log as a terminal would have left it: no progress bars, no carriage returns."""
    text = log.read_bytes().decode(errors="replace")
    last = (line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))
    cleaned = "\n".join(line for line in last if not _PROGRESS.search(line))
    if cleaned != text:
        log.write_text(cleaned, encoding="utf-8")


def last_line(log: Path) -> str | None:
    """The last line of a log that is not blank, shortened to 300 characters; None without one."""
    try:
        lines = log.read_bytes().decode(errors="replace").split("\n")
    except OSError:
        return None
    said = next((line.strip() for line in reversed(lines) if line.strip()), None)
    return said if said is None or len(said) <= _MOST else said[: _MOST - 1] + "…"


def describe_exit(code: int) -> str:
    """An exit status in words: "exit code 3", or "signal SIGKILL" for 137 and -9."""
    number = -code if code < 0 else code - 128
    if number > 0:
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(number).name}"
    return f"exit code {code}"


def explain_nothing_recorded(
    code: int, program_code: int | None, log: Path, nsys_log: Path, *, capture_range: bool
) -> CaptureError:
    """Why there is neither a report nor a raw recording: the program's fault comes first."""
    said = last_line(log)
    if program_code is None:
        return CaptureError(
            f"nsys ended with {describe_exit(code)} before the program had run: "
            f"{_complaint(nsys_log) or 'it said nothing'}",
            hint=f"What nsys said is in {nsys_log}.",
        )
    if program_code != 0:
        return CaptureError(
            f"The program failed with {describe_exit(program_code)} before anything was "
            f"recorded: {said or 'it printed nothing'}",
            hint=f"Its output is in {log}.",
        )
    unstarted = "it never called cudaProfilerStart, or used no CUDA"
    cause = unstarted if capture_range else "it was too short"
    return CaptureError(
        f"nsys recorded nothing, though the program ended well: {cause}.",
        hint=f"The program's output is in {log}, what nsys said in {nsys_log}.",
    )


def _complaint(nsys_log: Path) -> str | None:
    """What nsys has against its arguments: the last line before its usage and advice."""
    lines = [line.strip() for line in nsys_log.read_text(errors="replace").splitlines()]
    told = [line for line in lines if line and "--help" not in line and line[:6] != "usage:"]
    return told[-1][:_MOST] if told else last_line(nsys_log)
