"""How large each launch, copy and memset was: what a graph freezes beside the order of its work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Dim = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class LaunchSize:
    """Size of one operation; None where it has none, or the trace does not tell."""

    grid: Dim | None = None
    """Blocks of a kernel."""
    block: Dim | None = None
    """Threads of each block."""
    shared_bytes: int | None = None
    """Shared memory of each block, static and dynamic."""
    bytes: int | None = None
    """Bytes copied or set."""


LaunchSizes = Mapping[tuple[int, int], LaunchSize]
"""By process id and correlation id of the call."""
