"""TensorRT-LLM 16680: each layer moves its own CPU buffer to the GPU, every time."""

import torch

CASES = ("NVIDIA/TensorRT-LLM#16680",)
EXPECT = [
    {"rule": "pageable-htod", "count_per_step": 8, "bytes": 256, "line_marker": "# <- here"},
]
CAPTURE = "fails"


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = torch.nn.Linear(64, 64, device="cuda")
        self.scale = torch.ones(64)  # neither parameter nor buffer: stays on the CPU

    def forward(self, x):
        return self.proj(x) * self.scale.to(x.device)  # <- here


def setup():
    return {
        "layers": torch.nn.Sequential(*[Layer() for _ in range(8)]),
        "x": torch.randn(25, 64, device="cuda"),
    }


def step(state):
    with torch.no_grad():
        return state["layers"](state["x"])
