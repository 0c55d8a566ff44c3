"""A blocker of CUDA graph capture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from launchlens.records.figures.words import Phase


@dataclass(frozen=True, slots=True)
class Finding:
    """One suspect or confirmed blocker of CUDA graph capture (docs/blockers.md)."""

    rule: str
    """Rule that found it (blockers.md)."""
    confidence: Literal["suspected", "likely", "confirmed", "cleared"]
    """How sure it is: a trace alone suspects, a capture attempt confirms or clears."""
    title: str
    """The finding in a line."""
    count_per_step: float
    """How often in each step."""
    stable: bool
    """Whether the count is the same in all steps."""
    bytes: int | None
    """Bytes of each copy; null where it is no copy, or where they differ."""
    kinds: str | None
    """Direction and memory kinds of a copy."""
    source: str | None
    """File and line that cause it; null without a call stack or a harness."""
    stack: tuple[str, ...]
    """Call stack, innermost first."""
    host_ns: int | None
    """Time the thread sat in these calls, each step."""
    idle_ns: int | None
    """GPU idle time they cause, each step."""
    position: str | None
    """Where in the step: kernels before and after, module range."""
    remedy: str
    """What usually helps."""
    note: str | None = None
    """What else to know."""
    phase: Phase | None = None
    """Phase of the steps it is in."""
    silent: bool = False
    """It stops no capture, but replays may go wrong."""
    copies: bool = False
    """It is a copy between host and device that holds up the host."""
    file: str | None = None
    """Name of the file that causes it."""
    lines: tuple[int, ...] = ()
    """Its lines in that file."""
    saved_ns: int | None = None
    """Forecast: by how much each step would be shorter without these calls and what they wait for;
    null where that was not looked at, or cannot be told."""

    @property
    def replays_wrong(self) -> bool:
        """Whether replays of a captured step were seen to go wrong."""
        return self.silent and self.confidence == "confirmed"
