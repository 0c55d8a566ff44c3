"""torch.profiler: ``ProfilerStep#N``, from one call of the profiler's ``step()`` to the next."""

import re

from launchlens.metrics.engines.base import StepPattern, Tier, by_word

PATTERNS = (
    StepPattern(
        "torch.profiler",
        re.compile(r"^ProfilerStep#\d+$"),
        by_word,
        Tier.WORD,
        holds_more=True,
    ),
)
