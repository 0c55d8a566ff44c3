"""Figures and rules read the same rows alike: traces drawn by hand, seen by both rooms."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from build_trace import TraceBuilder

from launchlens.blockers import find_blockers
from launchlens.metrics import summarize
from launchlens.trace import read_trace

BEGIN, END = "cudaStreamBeginCapture_v10010", "cudaStreamEndCapture_v10000"


@dataclass
class Seen:
    step: object
    findings: dict[str, float]


@pytest.fixture
def drawn():
    trace = TraceBuilder()
    trace.range("prefill#0", 0, 1000)
    trace.launch(5, 8, kernel=(10, 12))
    return trace


@pytest.fixture
def see(tmp_path):
    def look(trace):
        read = read_trace(trace.write(tmp_path / "t.sqlite"))
        (step,) = summarize(read).steps
        found = find_blockers(read, [step])
        return Seen(step, {f"{f.rule}: {f.kinds}": f.count_per_step for f in found})

    return look


def test_a_synchronize_with_two_nested_calls_is_one_call_and_one_finding(drawn, see):
    drawn.sync(100, 200, api="cudaDeviceSynchronize_v3020")
    drawn.sync(110, 140, api="cuCtxSynchronize")
    drawn.sync(150, 190, api="cuCtxSynchronize")
    drawn.launch(300, 310, kernel=(320, 330))
    seen = see(drawn)
    assert seen.step.sync_calls == 1
    assert seen.findings == {"explicit-sync: cudaDeviceSynchronize": 1.0}


def test_two_synchronizes_after_one_another_are_two(drawn, see):
    drawn.sync(100, 140, api="cudaDeviceSynchronize_v3020")
    drawn.sync(150, 190, api="cudaDeviceSynchronize_v3020")
    drawn.launch(300, 310, kernel=(320, 330))
    seen = see(drawn)
    assert seen.step.sync_calls == 2
    assert seen.findings == {"explicit-sync: cudaDeviceSynchronize": 2.0}


def test_what_is_captured_after_a_leading_end_of_capture_blocks_nothing(drawn, see):
    drawn.call(END, 20, 21)  # its BeginCapture came before the recording
    drawn.call(BEGIN, 100, 101)
    drawn.call("cudaMalloc_v3020", 110, 120)
    drawn.launch(130, 135)
    drawn.call(END, 140, 141)
    drawn.launch(300, 310, kernel=(320, 330))
    seen = see(drawn)
    assert seen.findings == {}
    assert (seen.step.captured_calls, seen.step.launches) == (1, 2)


def test_the_same_allocation_outside_of_the_capture_is_a_blocker(drawn, see):
    drawn.call(END, 20, 21)
    drawn.call("cudaMalloc_v3020", 110, 120)
    drawn.launch(300, 310, kernel=(320, 330))
    seen = see(drawn)
    assert seen.findings == {"alloc: cudaMalloc": 1.0}
    assert seen.step.alloc_calls == 1


@pytest.mark.parametrize("api", ["cuMemSetAccess", "cuMemAddressFree", "cuMemAddressReserve"])
def test_virtual_memory_calls_are_allocations_for_both(drawn, see, api):
    drawn.call(api, 110, 120)
    drawn.launch(300, 310, kernel=(320, 330))
    seen = see(drawn)
    assert seen.step.alloc_calls == 1
    assert seen.findings == {f"alloc: {api}": 1.0}


def test_driver_calls_inside_an_allocation_count_once(drawn, see):
    drawn.call("cudaMalloc_v3020", 100, 200)
    drawn.call("cuMemCreate", 110, 120)
    drawn.call("cuMemMap", 130, 140)
    drawn.call("cuMemSetAccess", 150, 160)
    drawn.launch(300, 310, kernel=(320, 330))
    seen = see(drawn)
    assert seen.step.alloc_calls == 1
    assert seen.findings == {"alloc: cudaMalloc": 1.0}


def test_stream_ordered_allocation_counts_as_a_call_and_blocks_nothing(drawn, see):
    drawn.call("cudaMallocAsync_v11020", 100, 200)
    drawn.call("cuMemAllocAsync", 110, 190)
    drawn.launch(300, 310, kernel=(320, 330))
    seen = see(drawn)
    assert seen.step.alloc_calls == 1
    assert seen.findings == {}
