"""FlagGems 4472: an operator passes shapes and strides to its kernel as small GPU tensors."""

import torch

CASES = ("flagos-ai/FlagGems#4472",)
EXPECT = [
    {"rule": "pageable-htod", "count_per_step": 1, "bytes": 32, "line_marker": "# <- shape"},
    {"rule": "pageable-htod", "count_per_step": 1, "bytes": 32, "line_marker": "# <- products"},
    {"rule": "pageable-htod", "count_per_step": 1, "bytes": 32, "line_marker": "# <- strides"},
]
CAPTURE = "fails"


def setup():
    return {"bias": torch.randn(64, device="cuda"), "x": torch.randn(2, 25, 64, device="cuda")}


def step(state):
    x = state["x"]
    shape = torch.tensor([*x.shape, 1], dtype=torch.int64, device="cuda")  # <- shape
    products = torch.tensor([1600, 64, 1, 1], dtype=torch.int64, device="cuda")  # <- products
    strides = torch.tensor([0, 0, 1, 0], dtype=torch.int64, device="cuda")  # <- strides
    place = (torch.arange(3200, device="cuda")[:, None] // products) % shape
    return x + state["bias"][(place * strides).sum(-1)].view(x.shape)
