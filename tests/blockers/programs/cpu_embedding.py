"""FreeToken 59: a large embedding table is kept on the CPU; ids go down, rows come up."""

import torch

CASES = ("FlashML-org/FreeToken#59",)
EXPECT = [
    {"rule": "dtoh-sync", "count_per_step": 1, "bytes": 200, "line_marker": "# <- ids"},
    {"rule": "pageable-htod", "count_per_step": 1, "bytes": 3200, "line_marker": "# <- rows"},
]
CAPTURE = "fails"


def setup():
    return {"ids": torch.arange(25, device="cuda"), "table": torch.randn(100, 32)}


def step(state):
    ids = (state["ids"] * 3 % 100).cpu()  # <- ids
    rows = state["table"][ids]
    rows = rows.to("cuda")  # <- rows
    return rows.softmax(-1)
