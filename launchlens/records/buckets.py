"""Which sizes to capture: the answer of ``launchlens buckets``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class CaptureSizes:
    """Captured sizes, and what all steps take with them."""

    name: str
    """`best`, or whose sizes they are."""
    sizes: tuple[int, ...]
    """The sizes, ascending."""
    step_ns: float
    """Time of all steps."""
    memory_bytes: float
    """GPU memory that capturing them adds; 0 where the curves do not tell."""
    capture_ns: float
    """Time that capturing them takes; 0 where the curves do not tell."""


@dataclass(frozen=True, slots=True)
class EngineOption:
    """How an engine is told the best sizes."""

    engine: str
    """The engine."""
    option: str
    """Its option."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketChoice:
    """The sizes to capture: the JSON object of ``launchlens buckets --format json``."""

    schema: Literal["launchlens.buckets/1"] = "launchlens.buckets/1"
    """Name and version of this layout."""
    steps: int
    """Steps that the choice is for."""
    sizes: int
    """Sizes that they have."""
    best: CaptureSizes
    """The sizes that take least time, within the limits."""
    beside: CaptureSizes
    """What it is compared with."""
    saved: float
    """Part of the time that the best sizes save beside those; below 0 where limits cost time."""
    worth_it: bool
    """Whether that is enough to be worth an option."""
    options: tuple[EngineOption, ...]
    """How engines are told."""
