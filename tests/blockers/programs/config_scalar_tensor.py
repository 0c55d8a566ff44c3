"""transformers 47547: a number from the configuration becomes a GPU tensor in every forward."""

import torch

CASES = ("huggingface/transformers#47547", "IBM/vLLM-Hook#6")
EXPECT = [
    {"rule": "pageable-htod", "count_per_step": 1, "bytes": 8, "line_marker": "# <- here"},
]
CAPTURE = "fails"
IMAGE_TOKEN_ID = 262_145


def setup():
    return {
        "ids": torch.arange(25, device="cuda"),
        "table": torch.randn(300, 64, device="cuda"),
    }


def step(state):
    image = torch.tensor(IMAGE_TOKEN_ID, dtype=torch.long, device="cuda")  # <- here
    ids = torch.where(state["ids"] == image, 0, state["ids"])
    return state["table"][ids].sum(-1)
