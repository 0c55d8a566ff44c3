"""SGLang: ``step[MODE bs=… toks=…]``, and its scheduler (SGLANG_ENABLE_NVTX_SCHEDULER=1)."""

import re

from launchlens.metrics.engines.base import StepPattern, Tier, by_word
from launchlens.records.figures import Phase

_MODES = "EXTEND|DECODE|MIXED|IDLE|VERIFY|TARGET_VERIFY|SPLIT_PREFILL|DRAFT|DRAFT_EXTEND_V2"


def _by_mode(match: re.Match[str]) -> Phase:
    mode = match["mode"]
    if mode in ("EXTEND", "SPLIT_PREFILL"):
        return "prefill"
    return "mixed" if mode == "MIXED" else "decode"


PATTERNS = (
    StepPattern(
        "SGLang",
        re.compile(rf"^step\[(?P<mode>{_MODES}) bs=(?P<bs>\d+)(?: toks=(?P<t>\d+))?.*\]"),
        _by_mode,
        Tier.STEP,
        holds_more=True,
    ),
    StepPattern(
        "SGLang scheduler",
        re.compile(r"^scheduler\.run_batch$"),
        by_word,
        Tier.SCOPE,
        holds_more=True,
    ),
)
