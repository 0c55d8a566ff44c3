"""SGLang 37810: repeat_interleave without an output size asks the GPU for it."""

import torch

CASES = ("sgl-project/sglang#37810",)
EXPECT = [
    {"rule": "dtoh-sync", "count_per_step": 1, "bytes": 8, "line_marker": "# <- here"},
    # and whether all counts are positive: two reads from one line
    {"rule": "dtoh-sync", "count_per_step": 1, "bytes": 1, "line_marker": "# <- here"},
]
CAPTURE = "fails"


def setup():
    counts = torch.tensor([3, 1, 4, 1, 5], device="cuda")
    return {"counts": counts, "x": torch.randn(5, 64, device="cuda")}


def step(state):
    rows = state["x"] * 2
    rows = torch.repeat_interleave(rows, state["counts"], dim=0)  # <- here
    return rows.sum(0)
