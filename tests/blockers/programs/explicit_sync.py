"""TensorRT-LLM 5262's pattern: the host waits for the device between two layers."""

import torch

CASES = ("NVIDIA/TensorRT-LLM#5262",)
EXPECT = [
    {"rule": "explicit-sync", "count_per_step": 1, "line_marker": "# <- device"},
    {"rule": "explicit-sync", "count_per_step": 1, "line_marker": "# <- stream"},
]
CAPTURE = "fails"


def setup():
    return {"x": torch.randn(64, 256, device="cuda"), "w": torch.randn(256, 256, device="cuda")}


def step(state):
    x = state["x"] @ state["w"]
    torch.cuda.synchronize()  # <- device
    x = x.relu() @ state["w"]
    torch.cuda.current_stream().synchronize()  # <- stream
    return x.sum(-1)
