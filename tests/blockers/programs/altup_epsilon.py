"""transformers 50457: a CPU constant is moved to the GPU inside AltUp's two loops.

`torch.tensor(1e-5)` lives in pageable memory; each `.to(device)` is a copy and a wait.
"""

import torch

CASES = ("huggingface/transformers#50457",)
EXPECT = [
    {"rule": "pageable-htod", "count_per_step": 3, "bytes": 4, "line_marker": "# <- predict loop"},
    {"rule": "pageable-htod", "count_per_step": 3, "bytes": 4, "line_marker": "# <- correct loop"},
]
CAPTURE = "fails"


def setup():
    return {"x": torch.randn(4, 25, 256, device="cuda")}


def scaled(x, target, floor):
    magnitude = x.pow(2).mean(-1, keepdim=True)
    return x * target / torch.sqrt(torch.max(magnitude, floor))


def step(state):
    x = state["x"]
    target = x[0].pow(2).mean(-1, keepdim=True).sqrt()
    epsilon = torch.tensor(1e-5)
    first = [x[0]]
    for i in range(1, 4):
        first.append(scaled(x[i], target, epsilon.to(target.device)))  # noqa: PERF401  # <- predict loop
    hidden = torch.stack(first)
    last = [hidden[0]]
    for i in range(1, 4):
        last.append(scaled(hidden[i], target, epsilon.to(target.device)))  # noqa: PERF401  # <- correct loop
    return torch.stack(last).mean(0)
