"""Work that a captured step does and the eager one does not: a file for each known cause.

A file of this folder has an ``EFFECT``; nothing else knows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules


@dataclass(frozen=True, slots=True)
class Effect:
    """Operations that capturing adds in front of some of a step's operations."""

    name: str
    """Its name."""
    find: Callable[[Sequence[str]], list[int]]
    """In front of which operations, told by the names of all of a step's operations in order
    ("" for copies, "memset" for memsets)."""
    operations: float
    """How many are added at each."""
    busy_ns: float
    """What they take together."""
    spread: float
    """Standard deviation of that, as a part of it."""
    note: str
    """What a reader must know, with {count} and {time} for how many places and what it costs."""


@cache
def effects() -> tuple[Effect, ...]:
    """All known effects, by file name."""
    names = sorted(module.name for module in iter_modules(__path__))
    return tuple(import_module(f"{__name__}.{name}").EFFECT for name in names)
