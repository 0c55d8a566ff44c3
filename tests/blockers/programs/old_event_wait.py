"""torchtitan 3559, DeepEP: the step waits for an event that was recorded before it began."""

import torch

CASES = ("pytorch/torchtitan#3559",)
EXPECT = [
    {"rule": "legacy-stream", "count_per_step": 1, "kinds": "wait", "line_marker": "# <- here"},
]
CAPTURE = "fails"


def setup():
    own = torch.cuda.Stream()
    event = torch.cuda.Event()
    with torch.cuda.stream(own):
        x = torch.randn(64, 256, device="cuda")
        event.record(own)
    torch.cuda.synchronize()
    return {"x": x, "event": event}


def step(state):
    torch.cuda.current_stream().wait_event(state["event"])  # <- here
    return state["x"].softmax(-1)
