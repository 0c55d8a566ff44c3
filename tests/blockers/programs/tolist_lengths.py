"""vLLM 37316's pattern: sequence lengths are read back to build a list of chunks."""

import torch

CASES = ("vllm-project/vllm#37316",)
EXPECT = [
    {"rule": "dtoh-sync", "count_per_step": 1, "bytes": 32, "line_marker": "# <- here"},
]
CAPTURE = "fails"


def setup():
    return {
        "ends": torch.tensor([5, 11, 18, 25], device="cuda"),
        "x": torch.randn(25, 64, device="cuda"),
    }


def step(state):
    start, parts = 0, []
    for end in state["ends"].tolist():  # <- here
        parts.append(state["x"][start:end].mean(0))
        start = end
    return torch.stack(parts)
