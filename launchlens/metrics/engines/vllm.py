"""vLLM: steps of ``gpu_model_runner`` (VLLM_NVTX_SCOPES_FOR_PROFILING=1), and its model scope."""

import re

from launchlens.metrics.engines.base import StepPattern, Tier, by_counts, by_word

_FORWARD = re.compile(r"^gpu_model_runner: forward$")

PATTERNS = (
    StepPattern(
        "vLLM",
        re.compile(
            r"^execute_context_(?P<c>\d+)\((?P<t>\d+)\)_generation_(?P<g>\d+)\((?P<gt>\d+)\)$"
        ),
        by_counts,
        Tier.STEP,
        holds_more=True,
        scope=_FORWARD,
    ),
    StepPattern(
        "vLLM",
        re.compile(
            r"^execute_(?P<tot>\d+)_context_(?P<c>\d+)\(sq(?P<t>\d+)sk\d+sqsq\d+sqsk\d+\)"
            r"_generation_(?P<g>\d+)\(sq(?P<gt>\d+)sk\d+sqsq\d+sqsk\d+\)$"
        ),
        by_counts,
        Tier.STEP,
        holds_more=True,
        scope=_FORWARD,
    ),
    StepPattern("vLLM scopes", _FORWARD, by_word, Tier.SCOPE),
)
