"""Costs of launches and graphs: tiny kernels one by one and in graphs of growing size, timed.

What the GPU takes is timed between two events while a long kernel in front holds the GPU back, so
that everything behind it is submitted in time. What the thread takes is timed by its own clock.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator
from typing import Any

from launchlens.harness.ranges import StepRanges
from launchlens.protocol.result import CalibrateResult
from launchlens.protocol.spec import HarnessSpec
from launchlens.protocol.timings import TimedCost

SIZES = (50, 100, 200, 400)
"""Launches, or nodes of a graph. More launches than a stream's queue holds would block."""
PIECE = 10
"""Nodes of each of the graphs between which a kernel is launched."""
_REPEATS = 15
_TRACED_STEPS = 10
_HOLD_CYCLES = 60_000_000  # some 30 ms: longer than submitting takes


class Machine:
    """What is measured; a CPU stands in where there is no GPU, so that the program can be run."""

    def __init__(self, device: str) -> None:
        import torch

        self._torch, self.is_gpu = torch, device == "cuda"
        self._buffer = torch.zeros(1, device=device)
        self._memset = self._find_memset() if self.is_gpu else self._buffer.zero_
        self.launch(1)
        self.wait()

    def launch(self, count: int) -> None:
        """Launch a kernel of one element so many times."""
        for _ in range(count):
            self._buffer.add_(1)

    def memsets(self, count: int) -> None:
        """A kernel and a memset behind it, so many times."""
        assert self._memset is not None
        for _ in range(count):
            self._buffer.add_(1)
            self._memset()

    @property
    def has_memset(self) -> bool:
        """Whether memsets can be submitted alone."""
        return self._memset is not None

    def _find_memset(self) -> Callable[[], Any] | None:
        """A memset on the current stream; torch has none of its own."""
        major = (self._torch.version.cuda or "").partition(".")[0]
        try:
            function = ctypes.CDLL(f"libcudart.so.{major}").cudaMemsetAsync
        except (OSError, AttributeError):
            return None
        function.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p)
        pointer = self._buffer.data_ptr()
        return lambda: function(pointer, 0, 4, self._torch.cuda.current_stream().cuda_stream)

    def capture(self, work: Callable[[], None]) -> Callable[[], None]:
        """The work as a graph, to be replayed."""
        if not self.is_gpu:
            return work
        graph = self._torch.cuda.CUDAGraph()
        with self._torch.cuda.graph(graph):
            work()
        replay: Callable[[], None] = graph.replay
        return replay

    def wait(self) -> None:
        """Wait until the GPU is done."""
        if self.is_gpu:
            self._torch.cuda.synchronize()

    def host_ns(self, work: Callable[[], None]) -> int:
        """What the thread takes to submit some work."""
        self.wait()
        begun = time.perf_counter_ns()
        work()
        ended = time.perf_counter_ns()
        self.wait()
        return ended - begun

    def device_ns(self, work: Callable[[], None]) -> int:
        """What the GPU takes for work that is all submitted before it gets there."""
        if not self.is_gpu:
            return self.host_ns(work)
        cuda = self._torch.cuda
        start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        self.wait()
        cuda._sleep(_HOLD_CYCLES)
        start.record()
        work()
        end.record()
        self.wait()
        return int(start.elapsed_time(end) * 1e6)


def run_calibration(spec: HarnessSpec, result: CalibrateResult, device: str) -> None:
    """Mode calibrate: under a profiler launches alone, else every cost."""
    result.piece = PIECE
    if spec.graph_trace is not None:
        result.traced_steps = run_traced(device)
    else:
        result.costs = measure_costs(device)


def measure_costs(device: str) -> list[TimedCost]:
    """Every cost at every size, without a profiler."""
    return list(_measure(Machine(device)))


def _measure(machine: Machine) -> Iterator[TimedCost]:
    for size in SIZES:
        graph = machine.capture(lambda size=size: machine.launch(size))  # type: ignore[misc]
        graph()
        work = {
            "launches": lambda size=size: machine.launch(size),  # type: ignore[misc]
            "graph": graph,
        }
        if machine.has_memset:
            with_memsets = machine.capture(lambda size=size: machine.memsets(size))  # type: ignore[misc]
            with_memsets()
            work["graph with memsets"] = with_memsets
        for name, run in work.items():
            device = tuple(machine.device_ns(run) for _ in range(_REPEATS))
            yield TimedCost(f"{name}, GPU", size, device)
            host = tuple(machine.host_ns(run) for _ in range(_REPEATS))
            yield TimedCost(f"{name}, CPU", size, host)
    piece = machine.capture(lambda: machine.launch(PIECE))
    piece()
    for size in SIZES:

        def broken(size: int = size) -> None:
            for _ in range(size // 2):
                piece()
                machine.launch(1)

        device = tuple(machine.device_ns(broken) for _ in range(_REPEATS))
        yield TimedCost("broken graph, GPU", size // 2, device)


def run_traced(device: str) -> int:
    """Steps of launches one by one, for a profiler; returns how many."""
    import torch

    machine, ranges = Machine(device), StepRanges()
    machine.launch(SIZES[-1])
    machine.wait()
    if machine.is_gpu:
        torch.cuda.profiler.start()
    for index in range(_TRACED_STEPS):
        with ranges.step("prefill", index):
            machine.launch(SIZES[-1])
        machine.wait()
    if machine.is_gpu:
        torch.cuda.profiler.stop()
    return _TRACED_STEPS
