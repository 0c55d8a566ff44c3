"""Which NVTX ranges are forward steps: a file for each engine's way of naming them.

A file of this folder has ``PATTERNS``; nothing else knows it. Sources: the engines' own code.
"""

from __future__ import annotations

import math
import re
import time
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from launchlens.errors import UsageError
from launchlens.metrics.engines.base import StepPattern, Tier, by_word, phase_of_word
from launchlens.records.figures import Phase

__all__ = ["StepPattern", "is_scope", "patterns", "phase_of_word", "user_pattern"]


SEARCH_LIMIT_S = 10.0  # of all texts of a trace together; a million take one second
_COUNTED = re.compile(r"\{(\d+)(?:,(\d*))?\}")
_MOST_REPEATED = 100_000


@cache
def patterns() -> tuple[StepPattern, ...]:
    """All patterns, those that tell most first (`Tier`), of one tier by file name."""
    modules = (import_module(f"{__name__}.{m.name}") for m in iter_modules(__path__))
    found = [pattern for module in modules for pattern in getattr(module, "PATTERNS", ())]
    return tuple(sorted(found, key=lambda pattern: pattern.tier))


def is_scope(engine: str) -> bool:
    """Whether the ranges that name these steps tell nothing of them: warm-up looks as they do."""
    return any(p.engine == engine and p.tier is Tier.SCOPE for p in patterns())


class _Limited:
    """A regular expression of the user's, whose searches together end after `SEARCH_LIMIT_S`."""

    def __init__(self, text: str) -> None:
        import regex

        self._text, self._compiled, self._left_s = text, regex.compile(text), SEARCH_LIMIT_S

    def search(self, text: str) -> re.Match[str] | None:
        """As of `re.Pattern`; `UsageError` when the time is up."""
        begun = time.monotonic()
        try:
            match: re.Match[str] | None = self._compiled.search(text, timeout=self._left_s)
        except TimeoutError:
            raise UsageError(
                f"--step {self._text!r} was still searching after {SEARCH_LIMIT_S:g} s.",
                hint="Repetitions inside repetitions, as in (a+)+, make it try every way to match.",
            ) from None
        self._left_s = max(self._left_s - (time.monotonic() - begun), 0.001)
        return match


def _stated_phase(match: re.Match[str]) -> Phase:
    """The phase by a group of the user's own, else as the engines' patterns read the same text."""
    if "phase" in match.groupdict():
        return by_word(match)
    for pattern in patterns():
        known = pattern.regex.search(match.string) if pattern.domain is None else None
        if known is not None:
            # A range that may hold forward passes of both phases tells none.
            phase = (pattern.inner_phase or pattern.phase)(known)
            if phase != "unknown":
                return phase
    return "unknown"


def user_pattern(text: str) -> StepPattern:
    """A pattern from ``--step REGEX``; a group ``phase`` states the phase, else the text does.

    Raises:
        UsageError: not a regular expression.
    """
    import regex

    try:
        counts = [int(max(m.groups(""), key=len)) for m in _COUNTED.finditer(text)]
        if math.prod(counts) > _MOST_REPEATED:  # the library writes repetitions out
            raise regex.error("it repeats too much")
        return StepPattern("--step", _Limited(text), _stated_phase, Tier.STEP)
    except (regex.error, RecursionError, ValueError, OverflowError) as error:
        raise UsageError(
            f"--step {text!r} is not a regular expression: {error}.",
            hint="Escape special characters, for example --step '^\\[Executor\\]'.",
        ) from error
