"""TensorRT-LLM: ``_forward_step`` of its PyTorch executor (TLLM_LLMAPI_ENABLE_NVTX=1)."""

import re

from launchlens.metrics.engines.base import StepPattern, Tier, by_counts

PATTERNS = (
    StepPattern(
        "TensorRT-LLM",
        re.compile(
            r"^\[Executor\] _forward_step(?: (?P<i>\d+))?: (?P<c>\d+) ctx reqs, "
            r"(?:(?P<t>\d+) ctx tokens, )?(?P<g>\d+) gen reqs$"
        ),
        by_counts,
        Tier.STEP,
        holds_more=True,
    ),
)
