"""vLLM 51841: a strided view of a pinned buffer is copied "asynchronously".

The rows are far apart, so the copy is staged on the host. Which call that makes depends on the
version: torch 2.11 copies from a pageable intermediate (seen in the recording), and the capture
fails; elsewhere a call from the pinned memory waits for what is queued on the GPU.
"""

import torch

CASES = ("vllm-project/vllm#51841", "vllm-project/vllm#53412")
EXPECT = [
    {
        "rule": "pageable-htod",
        "count_per_step": 1,
        "line_marker": "# <- here",
    },
]
CAPTURE = "fails"


def setup():
    return {
        "host": torch.zeros(3, 8193, dtype=torch.int64, pin_memory=True),
        "device": torch.zeros(3, 8192, dtype=torch.int64, device="cuda"),
        "rows": [torch.zeros(8192, dtype=torch.int64, pin_memory=True) for _ in range(3)],
        "w": torch.randn(4096, 4096, device="cuda"),
    }


def step(state):
    w = state["w"]
    for _ in range(4):  # work in the queue, so that a waiting call can be told from a quick one
        w = w @ state["w"] * 1e-2
    state["device"][:, :4096].copy_(state["host"][:, :4096], non_blocking=True)  # <- here
    return state["device"].sum() + w[0, 0]
