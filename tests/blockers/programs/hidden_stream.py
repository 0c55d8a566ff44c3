"""torchtitan 3559: a helper launches on the default stream while the step has its own."""

import torch

CASES = ("pytorch/torchtitan#3559",)
EXPECT = [
    {"rule": "legacy-stream", "count_per_step": 1, "kinds": "work", "line_marker": "# <- here"},
]
CAPTURE = "succeeds"  # silently: the helper's work runs at once and is not in the graph


def setup():
    return {
        "x": torch.randn(64, 256, device="cuda"),
        "w": torch.randn(256, 256, device="cuda"),
        "norm": torch.empty(64, device="cuda"),
        "own": torch.cuda.Stream(),
    }


def helper(x, out):
    with torch.cuda.stream(torch.cuda.default_stream()):
        torch.sum(x, -1, out=out)  # <- here
    return out


def step(state):
    own = state["own"]
    if torch.cuda.is_current_stream_capturing():
        own = torch.cuda.current_stream()
    with torch.cuda.stream(own):
        x = state["x"] @ state["w"]
        for _ in range(4):
            x = x * 0.5 + 1
        norm = helper(state["x"], state["norm"])
        return x / norm[:, None]
