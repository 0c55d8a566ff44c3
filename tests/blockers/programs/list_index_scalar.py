"""vLLM 48515: a Python list as index and a Python number as value, each one a copy.

The list becomes an index tensor (three int64, 24 bytes), the number a CPU scalar (4 bytes):
two copies from one line.
"""

import torch

CASES = ("vllm-project/vllm#48515",)
EXPECT = [
    {"rule": "pageable-htod", "count_per_step": 1, "bytes": 24, "line_marker": "# <- here"},
    {"rule": "pageable-htod", "count_per_step": 1, "bytes": 4, "line_marker": "# <- here"},
]
CAPTURE = "fails"
SUPPRESSED = [3, 5, 8]


def setup():
    return {
        "hidden": torch.randn(4, 64, device="cuda"),
        "head": torch.randn(64, 512, device="cuda"),
    }


def step(state):
    logits = state["hidden"] @ state["head"]
    logits[:, SUPPRESSED] = -float("inf")  # <- here
    return logits.argmax(-1)
