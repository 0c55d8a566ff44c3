"""Step graphs of traces, for tests: of shipped ones, and of some that are written by hand."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from build_trace import TraceBuilder

from launchlens.forecast.step_graph import StepGraph, StepRows, TraceIndex, build
from launchlens.workflow.load import Choices, Loaded, load

ROOT = Path(__file__).parents[2]
TRACES = ROOT / "traces"
DELAY_NS = 950
"""What is typical between operations; tests that need it say so."""


@cache
def shipped(name: str) -> Loaded:
    """A trace of traces/ by its name without what follows the nsys version."""
    (file,) = TRACES.glob(f"{name}.nsys*.sqlite.xz")
    return load(file, Choices())


def graphs_of(loaded: Loaded) -> list[tuple[object, StepGraph]]:
    """The steps of a trace that have a window, with their graphs."""
    index, calls = TraceIndex(loaded.trace, loaded.measured.calls), loaded.measured.owned.calls
    found = []
    for i, step in enumerate(loaded.analysis.steps):
        if step.window_ns is not None:
            rows = StepRows(int(calls.low[i]), int(calls.high[i]), step.start_ns, step.end_ns)
            found.append((step, build(index, rows, delay_ns=DELAY_NS)))
    return found


def eager(
    folder: Path,
    *,
    launches: int = 100,
    kernel_ns: int = 3_000,
    every_ns: int = 10_000,
    call_ns: int = 4_000,
    steps: int = 4,
    gpu: str = "NVIDIA H200",
    name: str = "gemm",
) -> Path:
    """A trace of steps that launch one kernel after the other (all values are made up).

    The GPU starts a kernel 6 µs after its call, or 950 ns after the kernel before it.
    """
    builder = TraceBuilder(gpus={0: gpu})
    begin = 1_000_000
    for number in range(steps):
        free, at = 0, begin
        for _ in range(launches):
            start = max(at + 6_000, free + DELAY_NS)
            free = start + kernel_ns
            builder.launch(at, at + call_ns, kernel=(start, free), name=name)
            at += every_ns
        end = max(at, free)
        builder.range(f"decode#{number}", begin, at)
        begin = end + 1_000_000
    return builder.write(folder / "made-up.sqlite")
