"""Which NVTX ranges are forward steps: a file for each engine's way of naming them.

A file of this folder has ``PATTERNS``; nothing else knows it. Sources: the engines' own code.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from launchlens.errors import UsageError
from launchlens.metrics.engines.base import StepPattern, Tier, by_word, phase_of_word

__all__ = ["StepPattern", "patterns", "phase_of_word", "user_pattern"]


@cache
def patterns() -> tuple[StepPattern, ...]:
    """All patterns, those that tell most first (`Tier`), of one tier by file name."""
    modules = (import_module(f"{__name__}.{m.name}") for m in iter_modules(__path__))
    found = [pattern for module in modules for pattern in getattr(module, "PATTERNS", ())]
    return tuple(sorted(found, key=lambda pattern: pattern.tier))


def user_pattern(regex: str) -> StepPattern:
    """A pattern from ``--step REGEX``; a group named ``phase`` states the phase.

    Raises:
        UsageError: not a regular expression.
    """
    try:
        return StepPattern("--step", re.compile(regex), by_word, Tier.STEP)
    except re.error as error:
        raise UsageError(
            f"--step {regex!r} is not a regular expression: {error}.",
            hint="Escape special characters, for example --step '^\\[Executor\\]'.",
        ) from error
