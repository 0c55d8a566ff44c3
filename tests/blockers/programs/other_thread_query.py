"""PyTorch 175425, 146924 and vLLM 57759: another thread asks CUDA while this one captures.

A watcher (as pin_memory threads and NCCL's watchdog are) queries an event twice in each step.
"""

import threading

import torch

CASES = ("pytorch/pytorch#146924", "pytorch/pytorch#175425", "vllm-project/vllm#57759")
EXPECT = [
    {"rule": "event-query", "count_per_step": 2, "line_marker": "# <- here"},
]
CAPTURE = "fails"


def setup():
    event = torch.cuda.Event()
    event.record()
    torch.cuda.synchronize()
    state = {
        "x": torch.randn(64, 256, device="cuda"),
        "go": threading.Semaphore(0),
        "done": threading.Semaphore(0),
        "event": event,
        "error": None,
    }
    threading.Thread(target=watch, args=(state,), daemon=True).start()
    return state


def watch(state):
    while state["go"].acquire():
        try:
            for _ in range(2):
                state["event"].query()  # <- here
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
