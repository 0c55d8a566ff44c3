"""Stage by stage with times: a live line in a terminal, plain lines in a pipe on request."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator

from rich.console import Console


class Progress:
    """Tells what runs now, on standard error. Quiet in pipes: one line for each finished stage."""

    def __init__(self, total: int) -> None:
        self._console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._total = total
        self._done = 0
        self._begun = time.monotonic()

    @contextlib.contextmanager
    def stage(self, title: str) -> Iterator[None]:
        """One stage; says how long it took when it ends, also when it ends badly."""
        self._done += 1
        begun = time.monotonic()
        label = f"[{self._done}/{self._total}] {title}"
        outcome = "failed"
        try:
            if self._console.is_terminal:
                with self._console.status(label):
                    yield
            else:
                yield
            outcome = "done"
        finally:
            seconds = time.monotonic() - begun
            if outcome == "done":
                self.say(f"{label}: {seconds:.1f} s")
            else:
                self.say(f"{label}: stopped after {seconds:.1f} s")

    def skip(self, stages: int) -> None:
        """Stages that will not run after all."""
        self._total -= stages

    def add(self, stages: int) -> None:
        """Stages that turn out to be needed as well."""
        self._total += stages

    def say(self, line: str) -> None:
        """A line on standard error."""
        if self._console.is_terminal:
            self._console.print(line)
        else:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._begun
