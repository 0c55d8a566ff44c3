"""Errors that end a command with one clear sentence. A leaf: imports nothing of ours."""

from __future__ import annotations

EXIT_OK = 0
EXIT_CANNOT_ANSWER = 1
EXIT_USAGE = 2
EXIT_THRESHOLD = 3


class LaunchlensError(Exception):
    """Something launchlens cannot do: ``message`` says what and where, ``hint`` what to do.

    The command line prints both on standard error and ends with ``exit_code``. Any other
    exception is a bug and keeps its traceback.
    """

    exit_code = EXIT_CANNOT_ANSWER

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}" if self.hint else self.message


class UsageError(LaunchlensError):
    """The command was asked for something that makes no sense (exit code 2)."""

    exit_code = EXIT_USAGE


class TraceError(LaunchlensError):
    """A trace that cannot be read, or that does not hold what was asked of it."""


class StepNotFoundError(TraceError):
    """No NVTX range of the trace marks a step."""


class CaptureError(LaunchlensError):
    """nsys could not be found, started, or did not leave a usable trace."""


class HarnessError(LaunchlensError):
    """The profiled model could not be built or run."""


class StoreError(LaunchlensError):
    """A run or the run database cannot be read or written."""


def reason_of(error: Exception) -> str:
    """What the system says of a failure, to stand within a sentence: "permission denied"."""
    return (getattr(error, "strerror", None) or str(error)).lower()
