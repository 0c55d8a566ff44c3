"""Any program: ranges that begin with the word of a phase, or with "forward" or "step"."""

import re

from launchlens.metrics.engines.base import StepPattern, Tier, by_word

PATTERNS = (
    StepPattern(
        "ranges",
        re.compile(r"^(?P<phase>prefill|context|decode|generate|generation)\b"),
        by_word,
        Tier.PHASE_WORD,
    ),
    StepPattern("ranges", re.compile(r"^(forward|step)\b"), by_word, Tier.WORD),
)
