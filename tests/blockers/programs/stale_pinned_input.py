"""Pinned inputs copied inside the step: captured once, the copy repeats from the same address."""

import torch

CASES = ("flagos-ai/FlagGems#4472 (its remedy)", "vllm-project/vllm-ascend#16428")
EXPECT = [
    {"rule": "stale-input", "count_per_step": 1, "bytes": 200, "line_marker": "# <- here"},
]
CAPTURE = "succeeds"  # silently: replays read whatever lies at that address


def setup():
    return {
        "table": torch.randn(100, 64, device="cuda"),
        "slots": [torch.arange(25).add(i).pin_memory() for i in range(4)],
        "calls": 0,
    }


def step(state):
    state["calls"] += 1
    source = state["slots"][state["calls"] % 4]
    ids = source.to("cuda", non_blocking=True)  # <- here
    return state["table"][ids].sum(0)
