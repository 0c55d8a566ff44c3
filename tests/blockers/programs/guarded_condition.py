"""The same branch as transformers writes it: skipped while the stream is capturing.

The trace shows the same byte; the capture succeeds. A trace alone gives a suspect.
"""

import torch

CASES = ("docs: attention-mask condition (guarded)",)
EXPECT = [
    {"rule": "dtoh-sync", "count_per_step": 1, "bytes": 1, "line_marker": "# <- here"},
]
CAPTURE = "succeeds"


def setup():
    return {
        "position": torch.arange(25, device="cuda")[None],
        "x": torch.randn(1, 25, 25, device="cuda"),
    }


def step(state):
    jumps = torch.diff(state["position"], prepend=state["position"][:, :1] - 1, dim=-1) != 1
    packed = jumps.cumsum(-1)
    capturing = torch.cuda.is_current_stream_capturing()
    if not capturing and (packed[:, -1] == 0).all():  # <- here
        return state["x"].softmax(-1)
    same = packed[:, :, None] == packed[:, None]
    return state["x"].masked_fill(~same, -1e9).softmax(-1)
