"""Clean: device-to-device copies into static buffers, indices made on the GPU. No finding."""

import torch

CASES = ()
EXPECT = []
CAPTURE = "succeeds"


def setup():
    return {
        "ids": torch.arange(25, device="cuda"),
        "static": torch.zeros(32, dtype=torch.long, device="cuda"),
        "table": torch.randn(64, 128, device="cuda"),
    }


def step(state):
    state["static"][:25].copy_(state["ids"])
    rows = state["table"][state["static"]]
    rows.index_fill_(0, state["ids"][:3], 0.0)
    return rows.sum(-1)
