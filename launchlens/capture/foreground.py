"""A child in the foreground: signals that reach this process go on to the program in it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from launchlens.capture.process import child_mark, end_leftovers, read_output
from launchlens.capture.run import read_code
from launchlens.errors import CaptureError, reason_of

_PASSED_ON = tuple(
    signal.Signals[name]
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGWINCH")
)
_ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
_PATIENCE = 3
"""So many requests to end, and the program is killed."""
_POLL_S = 0.1
_STOP_LIMIT_S = 30.0
"""nsys takes a moment to collect what it has."""
_SEEN_EVERY_S = 0.5


class Foreground:
    """One run of nsys and its program, and the signals that go to the latter."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        pid_file: Path,
        code_file: Path,
        grace_s: float,
        tell: Callable[[str], None],
        stop: Sequence[str],
    ) -> None:
        self._command, self._tell, self._grace_s, self._stop = command, tell, grace_s, stop
        self._mark, self._marked = child_mark({**os.environ, **environment})
        self._pid_file, self._code_file = pid_file, code_file
        self._requests = 0
        self._kill_at: float | None = None
        self.processes: dict[int, str] = {}
        self.forked: set[int] = set()

    def to_end(self, output: int, timeout_s: float | None) -> int:
        """Waits for nsys and for the program, which may go on after nsys has all it should have."""
        stdin = subprocess.DEVNULL if sys.stdin is None or sys.stdin.isatty() else None
        try:
            child = subprocess.Popen(
                self._command,
                stdin=stdin,
                stdout=output,
                stderr=output,
                env=self._marked,
                start_new_session=True,
            )
        except OSError as error:
            raise CaptureError(
                f"{self._command[0]} cannot be started: {reason_of(error)}."
            ) from error
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        seen_at = 0.0
        try:
            with _passed_on(self._pass_on):
                while child.poll() is None or self._runs():
                    now = time.monotonic()
                    if deadline is not None and now > deadline:
                        self._tell(f"the program did not end within {timeout_s:g} s: ending it")
                        self._pass_on(signal.SIGTERM)
                        deadline = None
                    if self._kill_at is not None and now > self._kill_at and self._runs():
                        self._kill()
                    if now - seen_at > _SEEN_EVERY_S:
                        self._see()
                        seen_at = now
                    time.sleep(_POLL_S)
        finally:
            end_leftovers(child, self._mark)
        return child.returncode

    def _runs(self) -> bool:
        """Whether the program itself still runs."""
        pid = self._pid()
        if pid is None or self._code_file.exists():
            return False
        try:
            os.kill(pid, 0)
        except OSError:
            return False
        return True

    def _pid(self) -> int | None:
        return read_code(self._pid_file)

    def _pass_on(self, number: int) -> None:
        pid = self._pid()
        ends = number in _ENDING
        if ends:
            self._requests += 1
            if pid is None or not self._runs():
                if self._requests >= _PATIENCE:
                    raise KeyboardInterrupt
                return
            if self._requests >= _PATIENCE:
                self._kill_at = 0.0
            elif self._kill_at is None:
                self._kill_at = time.monotonic() + self._grace_s
        if pid is not None:
            with contextlib.suppress(OSError):
                os.kill(pid, number)

    def _kill(self) -> None:
        """Kills the program, once nsys has taken its events: a killed process loses its last."""
        self._kill_at = None
        self._tell("the program does not end by itself: killed")
        read_output(self._stop, timeout_s=_STOP_LIMIT_S)
        pid = self._pid()
        if pid is not None and self._runs():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def _see(self) -> None:
        """Notes which processes the program consists of just now."""
        import psutil

        pid = self._pid()
        if pid is None:
            return
        with contextlib.suppress(psutil.Error):
            program = psutil.Process(pid)
            for process in (program, *program.children(recursive=True)):
                with contextlib.suppress(psutil.Error):
                    self.processes[process.pid] = process.name()
                    parent = process.parent()
                    if process.pid != pid and parent is not None:
                        # A copy that never became another program has its parent's command line.
                        words = process.cmdline()
                        if words and words == parent.cmdline():
                            self.forked.add(process.pid)


@contextlib.contextmanager
def _passed_on(handle: Callable[[int], None]) -> Iterator[None]:
    """Gives signals to ``handle`` for a while; one that is ignored stays so (nohup)."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in _PASSED_ON:
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, lambda n, _frame: handle(n))
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
