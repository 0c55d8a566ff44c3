"""Clean: three layers and nothing else. No finding."""

import torch

CASES = ()
EXPECT = []
CAPTURE = "succeeds"


def setup():
    torch.manual_seed(0)
    layers = [torch.nn.Linear(256, 256, device="cuda") for _ in range(3)]
    return {"mlp": torch.nn.Sequential(*layers), "x": torch.randn(25, 256, device="cuda")}


def step(state):
    with torch.no_grad():
        return state["mlp"](state["x"]).softmax(-1)
