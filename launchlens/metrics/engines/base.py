"""How an engine names its steps, and what the text of such a range says."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from launchlens.records.figures import Phase

_WORDS: dict[str, Phase] = {
    "prefill": "prefill",
    "context": "prefill",
    "extend": "prefill",
    "split_prefill": "prefill",
    "decode": "decode",
    "generate": "decode",
    "generation": "decode",
    "mixed": "mixed",
}


class Tier(IntEnum):
    """How much a range text tells: patterns of a lower tier are tried first.

    An engine's own steps, then plain phase words, then scopes inside a step, then plain words.
    """

    STEP = 0
    PHASE_WORD = 1
    SCOPE = 2
    WORD = 3


class Searcher(Protocol):
    """A regular expression, such as a `re.Pattern`."""

    def search(self, text: str, /) -> re.Match[str] | None:
        """The first match in a text."""


@dataclass(frozen=True, slots=True)
class StepPattern:
    """One way in which steps are named. ``domain`` None: any NVTX domain.

    ``phase`` tells the phase from a match; groups ``t`` and ``gt`` are context and generation
    tokens.
    """

    engine: str
    regex: Searcher
    phase: Callable[[re.Match[str]], Phase]
    tier: Tier
    domain: str | None = None
    inner: re.Pattern[str] | None = None
    """Forward passes, which are the steps where they lie within a range of this pattern."""
    inner_phase: Callable[[re.Match[str]], Phase] | None = None
    """Their phase, by the match of the range around them; None: unknown."""
    holds_more: bool = False
    """The range holds more than what the engine captures: inputs are prepared in it too."""
    scope: re.Pattern[str] | None = None
    """The range within it that holds what the engine captures, where it can show one."""

    def is_empty(self, match: re.Match[str]) -> bool:
        """Whether the range text states that there is no request, and no token either."""
        groups = match.groupdict()
        requests = [groups[k] for k in ("c", "g", "bs") if groups.get(k) is not None]
        return bool(requests) and not any(map(int, requests)) and not self.tokens(match)

    def tokens(self, match: re.Match[str]) -> int | None:
        """Tokens of the step as the range text states them (context and generation)."""
        groups = match.groupdict()
        stated = [groups[k] for k in ("t", "gt") if groups.get(k)]
        return sum(int(n) for n in stated) if stated else None


def phase_of_word(word: str | None) -> Phase:
    """Phase named by a word such as "context" or "generation"; unknown for any other."""
    return _WORDS.get((word or "").lower(), "unknown")


def by_word(match: re.Match[str]) -> Phase:
    """Phase by a group ``phase``, if the pattern has one."""
    return phase_of_word(match.groupdict().get("phase"))


def by_counts(match: re.Match[str]) -> Phase:
    """Phase by the numbers of context (``c``) and generation (``g``) requests."""
    context, generation = int(match["c"]), int(match["g"])
    if context and generation:
        return "mixed"
    return "prefill" if context else "decode"
