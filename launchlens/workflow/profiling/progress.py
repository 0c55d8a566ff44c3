"""Stage by stage with times: a live line in a terminal, plain lines in a pipe on request."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from rich.console import Console

from launchlens.report.words import clean
from launchlens.streams import is_quiet, note


class Progress:
    """Tells what runs now, on standard error. Quiet in pipes: one line for each finished stage."""

    def __init__(self, total: int) -> None:
        self._console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._total = total
        self._done = 0
        self._begun = time.monotonic()

    @contextmanager
    def stage(self, title: str) -> Iterator[None]:
        """One stage; says how long it took when it ends, also when it ends badly."""
        self._done += 1
        begun = time.monotonic()
        label = f"[{self._done}/{self._total}] {title}"
        live = self._console.status(label) if self._shows_live else nullcontext()
        ended = "stopped after "
        try:
            with live:
                yield
            ended = ""
        finally:
            self.say(f"{label}: {ended}{time.monotonic() - begun:.1f} s")

    def skip(self, stages: int) -> None:
        """Stages that will not run after all."""
        self._total -= stages

    def add(self, stages: int) -> None:
        """Stages that turn out to be needed as well."""
        self._total += stages

    def say(self, line: str) -> None:
        """A line on standard error, unless it is to be quiet."""
        if self._shows_live:
            self._console.print(clean(line))
        else:
            note(line)

    @property
    def _shows_live(self) -> bool:
        return self._console.is_terminal and not is_quiet()

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._begun
