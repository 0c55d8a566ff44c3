"""Child processes that leave nothing running behind.

nsys detaches itself: its agent becomes a session of its own with init as parent, and so does the
program it traces (seen with 2022.4.2), so neither a process group nor the tree of parents finds
them again. Every child therefore carries a mark in its environment (`marks`), which all that it
starts inherits, and psutil searches all processes for that mark. Should
launchlens itself be killed, a guard (`guard`) does the same.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

from launchlens.capture.marks import MARK, marked_processes
from launchlens.errors import CaptureError, reason_of

if TYPE_CHECKING:
    pass

_guards: list[subprocess.Popen[bytes]] = []
_numbers = itertools.count()
LEFTOVER_GRACE_S = 5.0  # nsys's agent needs a moment to go once its command has ended
TERM_GRACE_S = 3.0
KILL_LIMIT_S = 10.0


class ChildTimeoutError(CaptureError):
    """A child process ran past its limit and was stopped with all that it had started."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a short command said, both streams together, or why it could not be started.

    ``exit_code`` is None when it could not be started or ran past its limit.
    """

    exit_code: int | None
    text: str

    @property
    def last_line(self) -> str:
        """The last line that is neither blank nor a progress bar; "it said nothing" without one."""
        lines = (line.strip() for line in reversed(self.text.replace("\r", "\n").splitlines()))
        return next((line for line in lines if line and "%]" not in line), "it said nothing")


def read_output(
    command: Sequence[str | Path], *, timeout_s: float = 30.0, env: Mapping[str, str] | None = None
) -> Output:
    """Runs a short command and returns what it printed; never raises for what the command does."""
    with tempfile.TemporaryFile() as file:
        try:
            code = run_child(command, output=file, timeout_s=timeout_s, env=env)
        except CaptureError as error:
            return Output(None, error.message)
        file.seek(0)
        return Output(code, file.read().decode(errors="replace"))


def run_child(
    command: Sequence[str | Path],
    *,
    output: IO[bytes],
    timeout_s: float,
    env: Mapping[str, str] | None = None,
) -> int:
    """Runs a command to its end in a session of its own, and ends what it leaves running.

    ``output`` takes standard output and error; ``env`` is the child's whole environment, this
    process's own if None.

    Returns:
        The exit status; negative when a signal ended it.

    Raises:
        ChildTimeoutError: the limit passed; everything the command started has been killed.
        CaptureError: the command could not be started.
        KeyboardInterrupt: passed on after everything the command started has been killed.
    """
    mark, marked = child_mark(os.environ if env is None else env)
    words = [str(word) for word in command]
    # SIGTERM and SIGHUP unwind the stack, so that the child is ended too; nohup stays in force.
    with _handled(_raise_exit, signal.SIGTERM, signal.SIGHUP, default_only=True):
        try:
            child = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=marked,
                start_new_session=True,
            )
        except OSError as error:
            said = f"{words[0]} cannot be started: {reason_of(error)}."
            raise CaptureError(said) from error
        try:
            code = child.wait(timeout=timeout_s)
            _await_leftovers(mark)
        except subprocess.TimeoutExpired:
            _end_all(child, mark)
            raise ChildTimeoutError(
                f"{Path(words[0]).name} did not end within {timeout_s:g} s and was stopped "
                "with everything it had started."
            ) from None
        except BaseException:
            _end_all(child, mark)
            raise
    return code


def child_mark(environment: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """A mark for one child, and its environment with it: what it starts is found by it."""
    mark = f"{_session()}-{next(_numbers)}-"
    return mark, {**environment, MARK: mark}


def end_leftovers(child: subprocess.Popen[bytes], mark: str) -> None:
    """Ends what a child left running; the child too, where it runs still."""
    if child.poll() is None:
        _end_all(child, mark)
    else:
        _await_leftovers(mark)


@functools.cache
def _session() -> str:
    """This process's own beginning of all marks; a guard ends what bears it if we are killed."""
    session = os.urandom(16).hex()
    with contextlib.suppress(OSError):  # without it all else works
        _guards.append(
            subprocess.Popen(
                [sys.executable, "-m", "launchlens.capture.guard", session],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        )
    return session


def _await_leftovers(mark: str) -> None:
    """Gives what outlived the command a moment to end by itself, then kills it."""
    deadline = time.monotonic() + LEFTOVER_GRACE_S
    while marked_processes(mark):
        if time.monotonic() > deadline:
            _kill_marked(mark)
            return
        time.sleep(0.05)


def _end_all(child: subprocess.Popen[bytes], mark: str) -> None:
    """Asks everything marked to end, then kills what is left. Ctrl-C again cannot stop it."""
    import psutil

    with _handled(signal.SIG_IGN, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for process in marked_processes(mark):
            with contextlib.suppress(psutil.Error):  # it ended meanwhile
                process.terminate()
        deadline = time.monotonic() + TERM_GRACE_S
        while time.monotonic() < deadline and (child.poll() is None or marked_processes(mark)):
            time.sleep(0.05)
        if child.poll() is None:
            child.kill()  # also when its environment cannot be read
        _kill_marked(mark)
        child.wait()


def _kill_marked(mark: str) -> None:
    """Kills marked processes until none is left: one may fork while the list is being read."""
    import psutil

    deadline = time.monotonic() + KILL_LIMIT_S
    while (left := marked_processes(mark)) and time.monotonic() < deadline:
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        time.sleep(0.02)


def _raise_exit(number: int, frame: object) -> NoReturn:  # noqa: ARG001 - a signal handler's shape
    raise SystemExit(128 + number)


@contextlib.contextmanager
def _handled(handler: Any, *numbers: signal.Signals, default_only: bool = False) -> Iterator[None]:
    """Handles signals this way for a while; ``default_only``: not where a handler is set already.

    Only the main thread may set handlers; in another one nothing changes.
    """
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in numbers:
            if not default_only or signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
