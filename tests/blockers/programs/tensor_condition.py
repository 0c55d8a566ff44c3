"""A branch on a GPU value, as transformers' mask code has it, without looking at the stream.

`if mask.all()` reads one byte. The check in transformers is skipped while a stream is
capturing; this one is not, so the capture fails.
"""

import torch

CASES = ("docs: attention-mask condition", "NVIDIA/TensorRT-LLM#3147")
EXPECT = [
    {"rule": "dtoh-sync", "count_per_step": 1, "bytes": 1, "line_marker": "# <- here"},
]
CAPTURE = "fails"


def setup():
    return {
        "mask": torch.ones(2, 25, dtype=torch.bool, device="cuda"),
        "x": torch.randn(2, 25, 25, device="cuda"),
    }


def step(state):
    scores = state["x"] * 0.125
    if not state["mask"].all():  # <- here
        scores = scores.masked_fill(~state["mask"][:, None], float("-inf"))
    return scores.softmax(-1)
