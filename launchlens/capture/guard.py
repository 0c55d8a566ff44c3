"""Ends what launchlens started, should launchlens itself be killed: a process of its own.

    python -m launchlens.capture.guard MARK

Standard input is a pipe whose other end launchlens holds; the kernel closes it however launchlens
ends. nsys and what it traces detach from their parents, so that a signal at the parent's death
(PR_SET_PDEATHSIG) would reach the first of them only; the mark in their environment finds them all.
"""

from __future__ import annotations

import contextlib
import sys
import time

from launchlens.capture.marks import marked_processes

QUIET_S = 1.0  # a process that was just being started shows its environment within this time
LIMIT_S = 30.0


def main() -> None:
    """Waits for the end of launchlens, then kills marked processes until none appears any more."""
    import psutil

    sys.stdin.buffer.read()
    begun = quiet_since = time.monotonic()
    while time.monotonic() - quiet_since < QUIET_S and time.monotonic() - begun < LIMIT_S:
        for process in marked_processes(sys.argv[1]):
            quiet_since = time.monotonic()
            with contextlib.suppress(psutil.Error):
                process.kill()
        time.sleep(0.05)


if __name__ == "__main__":
    main()
