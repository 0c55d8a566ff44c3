"""A loop whose length depends on the data (mixtures of experts, early exit).

No number is read back here: the host already knows it, and it differs from step to step, so a
graph captured from one step replays the wrong number of kernels in the next.
"""

import torch

CASES = ("pattern of vllm-project/vllm#22897", "docs: data-dependent control flow")
EXPECT = [
    {"rule": "unstable-sequence", "count_per_step": 1, "line_marker": "# <- here"},
]
CAPTURE = "succeeds"  # silently wrong: the graph repeats the captured number of rounds


def setup():
    return {"x": torch.randn(64, 256, device="cuda"), "calls": 0}


def step(state):
    state["calls"] += 1
    x = state["x"]
    for _ in range(2 + state["calls"] % 3):  # <- here
        x = x * 0.5 + 1
    return x.sum(-1)
