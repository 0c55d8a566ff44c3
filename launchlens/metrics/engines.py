"""Which NVTX ranges are forward steps, and what their texts say: phase, tokens.

One entry for each engine's way of naming a step, most specific first. Sources: the engines'
own code (TensorRT-LLM ``_forward_step``, vLLM ``gpu_model_runner``, SGLang ``step[...]``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from launchlens.errors import UsageError
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
_SGLANG_MODES = "EXTEND|DECODE|MIXED|IDLE|VERIFY|TARGET_VERIFY|SPLIT_PREFILL|DRAFT|DRAFT_EXTEND_V2"


def phase_of_word(word: str | None) -> Phase:
    """Phase named by a word such as "context" or "generation"; unknown for any other."""
    return _WORDS.get((word or "").lower(), "unknown")


def _by_counts(match: re.Match[str]) -> Phase:
    context, generation = int(match["c"]), int(match["g"])
    if context and generation:
        return "mixed"
    return "prefill" if context else "decode"


def _by_mode(match: re.Match[str]) -> Phase:
    mode = match["mode"]
    if mode in ("EXTEND", "SPLIT_PREFILL"):
        return "prefill"
    return "mixed" if mode == "MIXED" else "decode"


def _by_word(match: re.Match[str]) -> Phase:
    return phase_of_word(match.groupdict().get("phase"))


@dataclass(frozen=True, slots=True)
class StepPattern:
    """How one engine names its steps. ``domain`` None: any NVTX domain."""

    engine: str
    regex: re.Pattern[str]
    phase: Callable[[re.Match[str]], Phase]
    domain: str | None = None

    def tokens(self, match: re.Match[str]) -> int | None:
        """Tokens of the step as the range text states them (context and generation)."""
        groups = match.groupdict()
        stated = [groups[k] for k in ("t", "gt") if groups.get(k)]
        return sum(int(n) for n in stated) if stated else None


PATTERNS: tuple[StepPattern, ...] = (
    StepPattern(
        "launchlens",
        re.compile(r"^(?P<phase>prefill|decode|mixed|step)$"),
        _by_word,
        domain="launchlens",
    ),
    StepPattern(
        "TensorRT-LLM",
        re.compile(
            r"^\[Executor\] _forward_step(?: (?P<i>\d+))?: (?P<c>\d+) ctx reqs, "
            r"(?:(?P<t>\d+) ctx tokens, )?(?P<g>\d+) gen reqs$"
        ),
        _by_counts,
    ),
    StepPattern(
        "vLLM",
        re.compile(
            r"^execute_context_(?P<c>\d+)\((?P<t>\d+)\)_generation_(?P<g>\d+)\((?P<gt>\d+)\)$"
        ),
        _by_counts,
    ),
    StepPattern(
        "vLLM",
        re.compile(
            r"^execute_(?P<tot>\d+)_context_(?P<c>\d+)\(sq(?P<t>\d+)sk\d+sqsq\d+sqsk\d+\)"
            r"_generation_(?P<g>\d+)\(sq(?P<gt>\d+)sk\d+sqsq\d+sqsk\d+\)$"
        ),
        _by_counts,
    ),
    StepPattern(
        "SGLang",
        re.compile(rf"^step\[(?P<mode>{_SGLANG_MODES}) bs=(?P<bs>\d+)(?: toks=(?P<t>\d+))?.*\]"),
        _by_mode,
    ),
    StepPattern(
        "ranges",
        re.compile(r"^(?P<phase>prefill|context|decode|generate|generation)\b"),
        _by_word,
    ),
    StepPattern("vLLM scopes", re.compile(r"^gpu_model_runner: forward$"), _by_word),
    StepPattern("SGLang scheduler", re.compile(r"^scheduler\.run_batch$"), _by_word),
    StepPattern("ranges", re.compile(r"^(forward|step)\b"), _by_word),
)


def user_pattern(regex: str) -> StepPattern:
    """A pattern from ``--step REGEX``; a group named ``phase`` states the phase.

    Raises:
        UsageError: not a regular expression.
    """
    try:
        return StepPattern("--step", re.compile(regex), _by_word)
    except re.error as error:
        raise UsageError(
            f"--step {regex!r} is not a regular expression: {error}.",
            hint="Escape special characters, for example --step '^\\[Executor\\]'.",
        ) from error
