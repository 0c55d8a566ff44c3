"""Runs one program of this folder: traced under nsys, or in a real capture attempt.

    python _runner.py altup_epsilon --trace      # three steps between cudaProfilerStart and Stop
    python _runner.py altup_epsilon --capture    # one line of JSON: captured or failed, and where
    python _runner.py altup_epsilon --dispatch   # one line of JSON: what copies or waits, and where

A program has `setup() -> state`, `step(state)`, and the literals EXPECT, CASES and CAPTURE.
Needs torch and a GPU; `--dispatch` needs launchlens's harness besides.
"""

import argparse
import importlib
import json
import sys
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
WARMUP = 3
STEPS = 3


def trace(program):
    import torch

    state = program.setup()
    for _ in range(WARMUP):
        program.step(state)
        torch.cuda.synchronize()
    torch.cuda.profiler.start()
    for i in range(STEPS):
        torch.cuda.nvtx.range_push(f"prefill#{i}")
        program.step(state)
        torch.cuda.nvtx.range_pop()
        torch.cuda.synchronize()
    torch.cuda.profiler.stop()


def capture(program):
    """Try a whole-step capture; the first error counts, not those that follow from it."""
    import torch

    state = program.setup()
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(WARMUP):
            program.step(state)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph, stream=side):
            program.step(state)
        graph.replay()
        torch.cuda.synchronize()
    except Exception as error:
        return describe(error, Path(program.__file__).name)
    return {"status": "captured"}


def dispatch(program):
    """The operators of one step that copy or wait, with their source lines, by the harness."""
    import torch

    sys.path.insert(0, str(HERE.parents[2]))
    from launchlens.harness.dispatch import Recorder, observe

    state = program.setup()
    for _ in range(WARMUP):
        program.step(state)
    torch.cuda.synchronize()
    recorder = Recorder(phase="prefill")
    with observe(None, recorder):
        program.step(state)
    return {"events": [event.to_dict() for event in recorder.events]}


def describe(error, file_name):
    first = error
    while first.__context__ is not None:
        first = first.__context__
    frames = [
        f for f in traceback.extract_tb(first.__traceback__) if Path(f.filename).parent == HERE
    ]
    own = [f for f in frames if Path(f.filename).name == file_name]
    return {
        "status": "failed",
        "error_type": type(first).__name__,
        "error_line": str(first).strip().splitlines()[0],
        "source": f"{file_name}:{own[-1].lineno}" if own else None,
        "last_error_line": str(error).strip().splitlines()[0],
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--trace", action="store_true")
    mode.add_argument("--capture", action="store_true")
    mode.add_argument("--dispatch", action="store_true")
    arguments = parser.parse_args()
    sys.path.insert(0, str(HERE))
    program = importlib.import_module(arguments.program)
    if arguments.trace:
        trace(program)
        return
    result = capture(program) if arguments.capture else dispatch(program)
    # A failed capture can leave the context unusable: nothing may run after this line.
    print(json.dumps({"program": arguments.program, **result}), flush=True)
    import os

    os._exit(0)


if __name__ == "__main__":
    main()
