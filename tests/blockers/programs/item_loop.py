"""SGLang 34782: 21 numbers are read from the GPU one by one, 21 waits in a step."""

import torch

CASES = ("sgl-project/sglang#34782",)
EXPECT = [
    {"rule": "dtoh-sync", "count_per_step": 21, "bytes": 8, "line_marker": "# <- here"},
]
CAPTURE = "fails"


def setup():
    return {
        "lengths": torch.arange(1, 22, device="cuda"),
        "x": torch.randn(21, 32, 64, device="cuda"),
    }


def step(state):
    total = torch.zeros(64, device="cuda")
    for i in range(21):
        n = state["lengths"][i].item()  # <- here
        total = total + state["x"][i, :n].sum(0)
    return total
