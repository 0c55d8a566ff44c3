"""vLLM 57759, PyTorch 146924: a data thread pins new memory while the step runs."""

import threading

import torch

CASES = ("vllm-project/vllm#57759", "pytorch/pytorch#146924")
EXPECT = [
    {"rule": "alloc", "count_per_step": 1, "kinds": "cudaHostAlloc", "line_marker": "# <- here"},
]
CAPTURE = "fails"


def setup():
    state = {
        "x": torch.randn(64, 256, device="cuda"),
        "go": threading.Semaphore(0),
        "done": threading.Semaphore(0),
        "kept": [],
        "error": None,
    }
    threading.Thread(target=pin, args=(state,), daemon=True).start()
    return state


def pin(state):
    while state["go"].acquire():
        try:
            # Kept, so that torch's cache of pinned memory has nothing to hand out again.
            state["kept"].append(torch.empty(1 << 16, pin_memory=True))  # <- here
        except Exception as error:
            state["error"] = error
        state["done"].release()


def step(state):
    x = state["x"] * 2
    state["go"].release()
    state["done"].acquire()
    if state["error"] is not None:
        raise state["error"]
    return x.sum(-1)
