"""vLLM 51458 (one of many): the number of chosen rows is known on the GPU only."""

import torch

CASES = ("vllm-project/vllm#51458",)
EXPECT = [
    {"rule": "dtoh-sync", "count_per_step": 1, "line_marker": "# <- here"},
]
CAPTURE = "fails"


def setup():
    return {
        "x": torch.randn(64, 32, device="cuda"),
        "keep": torch.arange(64, device="cuda") % 2 == 0,
    }


def step(state):
    rows = (state["x"] * 2)[state["keep"]]  # <- here
    return rows.sum(0)
