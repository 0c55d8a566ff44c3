"""Any program: ranges that begin with the word of a phase, or with "forward" or "step"."""

import re

from launchlens.metrics.engines.base import StepPattern, Tier, by_word
from launchlens.records.figures import Phase

_FORWARD = re.compile(r"^(forward|step)\b")


def _inside(match: re.Match[str]) -> Phase:
    """Phase of a forward pass within a range: ``generate`` holds those of a whole request."""
    return "unknown" if match["phase"] == "generate" else by_word(match)


PATTERNS = (
    StepPattern(
        "ranges",
        re.compile(r"^(?P<phase>prefill|context|decode|generate|generation)\b"),
        by_word,
        Tier.PHASE_WORD,
        inner=_FORWARD,
        inner_phase=_inside,
    ),
    StepPattern("ranges", _FORWARD, by_word, Tier.WORD),
)
