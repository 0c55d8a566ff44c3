"""Clean: a side stream that forks from the step's stream and joins it again. No finding."""

import torch

CASES = ()
EXPECT = []
CAPTURE = "succeeds"


def setup():
    return {
        "x": torch.randn(64, 256, device="cuda"),
        "w": torch.randn(256, 256, device="cuda"),
        "side": torch.cuda.Stream(),
    }


def step(state):
    here = torch.cuda.current_stream()
    left = state["x"] @ state["w"]
    state["side"].wait_stream(here)
    with torch.cuda.stream(state["side"]):
        right = state["x"].softmax(-1)
    here.wait_stream(state["side"])
    return left + right
