"""launchlens's own harness: ranges ``prefill`` and ``decode`` in the domain "launchlens"."""

import re

from launchlens.metrics.engines.base import StepPattern, Tier, by_word

PATTERNS = (
    StepPattern(
        "launchlens",
        re.compile(r"^(?P<phase>prefill|decode|mixed|step)$"),
        by_word,
        Tier.STEP,
        domain="launchlens",
    ),
)
