"""PyTorch 187795, 159594: memory is taken from and given back to the driver inside the step."""

import torch

CASES = ("pytorch/pytorch#187795", "pytorch/pytorch#159594")
EXPECT = [
    {
        "rule": "alloc",
        "count_per_step": 1,
        "kinds": "cudaMalloc",
        "line_marker": "# <- taken",
    },
    {
        "rule": "alloc",
        "count_per_step": 1,
        "kinds": "cudaFree",
        "line_marker": "# <- given back",
    },
]
CAPTURE = "succeeds"  # torch ignores empty_cache while capturing (pytorch/pytorch#158152)


def setup():
    return {
        "x": torch.randn(1 << 20, device="cuda"),
        "out": torch.empty(1 << 20, device="cuda"),
    }


def step(state):
    scratch = torch.empty(1 << 26, dtype=torch.uint8, device="cuda")  # <- taken
    scratch.zero_()
    torch.mul(state["x"], 2, out=state["out"])
    del scratch
    torch.cuda.empty_cache()  # <- given back
    return state["out"]
