"""SGLang 35106: eight bytes from pageable memory hold up a whole prefill.

`non_blocking=True` promises nothing for pageable memory: CUDA stages the bytes itself. No
synchronize follows, so torch's sync debug mode stays silent; the capture fails all the same.
"""

import torch

CASES = ("sgl-project/sglang#35106",)
EXPECT = [
    {"rule": "pageable-htod", "count_per_step": 1, "bytes": 8, "line_marker": "# <- here"},
]
CAPTURE = "fails"


def setup():
    return {"x": torch.randn(25, 256, device="cuda"), "w": torch.randn(256, 256, device="cuda")}


def step(state):
    length = torch.tensor([25], dtype=torch.int64)
    length = length.to("cuda", non_blocking=True)  # <- here
    mask = torch.arange(25, device="cuda") < length
    return (state["x"] @ state["w"]) * mask[:, None]
