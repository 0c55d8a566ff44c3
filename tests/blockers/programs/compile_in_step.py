"""vllm-omni 5107: a kernel is compiled and loaded while the step runs (and is captured)."""

import torch

CASES = ("vllm-project/vllm-omni#5107",)
EXPECT = [
    {"rule": "lazy-load", "count_per_step": 1, "line_marker": "# <- here"},
]
CAPTURE = "succeeds"


def setup():
    return {"x": torch.randn(1024, device="cuda"), "calls": 0}


def step(state):
    state["calls"] += 1  # a new constant each time: nothing in a cache helps
    code = f"template <typename T> T scale(T x) {{ return x * T({state['calls']}); }}"
    scale = torch.cuda.jiterator._create_jit_fn(code)
    return scale(state["x"])  # <- here
