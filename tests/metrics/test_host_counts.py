"""What a step submits: kinds of call, suffixes, captures, twins, graph tracing."""

from __future__ import annotations

import pytest
from build_trace import TraceBuilder

from launchlens.metrics import summarize
from launchlens.trace import read_trace

BEGIN, END = "cudaStreamBeginCapture_v10010", "cudaStreamEndCapture_v10000"


@pytest.fixture
def measure(tmp_path):
    def steps(trace, **options):
        return summarize(read_trace(trace.write(tmp_path / "t.sqlite")), **options).steps

    return steps


@pytest.fixture
def drawn():
    trace = TraceBuilder()
    trace.range("prefill#0", 0, 1000)
    return trace


def test_suffixed_runtime_and_driver_launches_all_count(drawn, measure):
    for i, api in enumerate(
        ("cudaLaunchKernel_ptsz_v7000", "cuLaunchKernelEx", "cudaLaunchKernelExC_v11060")
    ):
        drawn.launch(10 + 10 * i, 15 + 10 * i, kernel=(100 + 10 * i, 105 + 10 * i), api=api)
    drawn.call("cudaMalloc_v3020", 50, 60)
    (step,) = measure(drawn)
    assert (step.kernel_launches, step.launches, step.kernels, step.alloc_calls) == (3, 3, 3, 1)


def test_calls_while_capturing_submit_nothing(drawn, measure):
    drawn.call(BEGIN, 10, 12)
    drawn.launch(20, 22)
    drawn.copy(24, 26)
    drawn.memset(28, 30)
    drawn.call(END, 40, 42)
    drawn.launch(50, 55, kernel=(60, 70))
    drawn.graph(80, 85, nodes=[(90, 95)])
    (step,) = measure(drawn)
    assert (step.kernel_launches, step.graph_launches, step.captured_calls) == (1, 1, 3)
    assert (step.memcpy_calls, step.memset_calls, step.submissions) == (0, 0, 2)


def test_a_capture_on_another_thread_does_not_touch_this_one(drawn, measure):
    drawn.call(BEGIN, 10, 12, tid=2)
    drawn.launch(20, 22, kernel=(30, 40))
    drawn.call(END, 40, 42, tid=2)
    drawn.launch(50, 52, kernel=(60, 70), tid=3)
    (step,) = measure(drawn)
    assert (step.kernel_launches, step.captured_calls) == (1, 0)


def test_a_recording_that_begins_within_a_capture_still_sees_the_next(drawn, measure):
    drawn.call(END, 5, 6)  # its BeginCapture came before the recording
    drawn.call(BEGIN, 10, 12)
    drawn.launch(20, 22)
    drawn.call(END, 40, 42)
    drawn.launch(50, 55, kernel=(60, 70))
    (step,) = measure(drawn)
    assert (step.kernel_launches, step.captured_calls) == (1, 1)


@pytest.mark.parametrize("apart_ns", [100, 5_000_000_000])
def test_a_runtime_call_and_its_driver_call_count_once(measure, apart_ns):
    """Also in traces longer than two seconds, where 32 bits of nanoseconds end."""
    trace = TraceBuilder()
    trace.range("prefill#0", 0, 2 * apart_ns)
    corr = trace.launch(10, 50, kernel=(60, 80))
    trace.call("cuLaunchKernel", 20, 40, corr=corr)
    graph = trace.graph(apart_ns, apart_ns + 9, nodes=[(apart_ns + 20, apart_ns + 30)])
    trace.call("cuGraphLaunch", apart_ns + 2, apart_ns + 8, corr=graph)
    trace.sync(apart_ns + 40, apart_ns + 60)
    trace.sync(apart_ns + 45, apart_ns + 55, api="cuStreamSynchronize")
    trace.launch(apart_ns, apart_ns + 30, tid=2)  # at the same time elsewhere: no twin
    (step,) = measure(trace)
    assert (step.kernel_launches, step.graph_launches, step.sync_calls) == (1, 1, 1)
    assert (step.hidden_graph_launches, step.kernels, step.graph_tracing) == (0, 2, "node")


def test_a_driver_call_that_carries_the_operation_lends_it_to_the_runtime_call(drawn, measure):
    drawn.call("cudaGraphLaunch_v10000", 10, 50, corr=1)
    drawn.call("cuGraphLaunch", 20, 40, corr=2)
    drawn.op("graph", 60, 90, 2)
    (step,) = measure(drawn)
    assert (step.graph_launches, step.hidden_graph_launches, step.graph_spans) == (1, 0, 1)
    assert step.graph_tracing == "graph"


@pytest.mark.parametrize(("edge", "owned"), [(99, 0), (100, 1), (200, 1), (201, 0)])
def test_a_step_owns_calls_that_start_within_its_range(measure, edge, owned):
    trace = TraceBuilder()
    trace.range("prefill#0", 100, 200)
    trace.launch(150, 155, kernel=(160, 170))
    trace.launch(edge, edge + 5, kernel=(edge + 10, edge + 20))
    (step,) = measure(trace)
    assert (step.launches, step.kernels) == (1 + owned, 1 + owned)


def test_launch_cost_and_interval_are_medians_over_the_thread(drawn, measure):
    for start, end in ((10, 14), (30, 36), (70, 79)):
        drawn.launch(start, end, kernel=(start + 10, start + 15))
    drawn.launch(20, 60, kernel=(200, 210), tid=2)
    (step,) = measure(drawn)
    assert (step.launch_cost_ns, step.launch_cost_total_ns) == (6, 4 + 6 + 9)
    assert step.inter_launch_ns == 30  # of 20 and 40


def test_queue_time_and_tklqt(drawn, measure):
    drawn.launch(10, 20, kernel=(25, 30))  # queued 5, started 15 after the call began
    drawn.launch(30, 40, kernel=(38, 50))  # started before the call returned: 0 queued, 8
    drawn.launch(60, 70, kernel=(90, 95))  # queued 20, 30
    (step,) = measure(drawn)
    assert (step.queue_ns, step.tklqt_ns) == (5, 15 + 8 + 30)


def test_a_graph_has_no_tklqt(drawn, measure):
    """Its second node starts 80 after the launch, although nothing waited."""
    drawn.graph(10, 20, nodes=[(25, 80), (90, 95)])
    drawn.launch(30, 40, kernel=(100, 120))
    (step,) = measure(drawn)
    assert (step.kernels, step.tklqt_ns) == (3, None)


# Graph tracing ---------------------------------------------------------------------------------

UNKNOWN = ("window_ns", "busy_ns", "idle", "idle_kernels_only", "idle_projected", "gaps_ns",
           "projected_ns", "kernels", "memcpys", "memsets", "bound", "tklqt_ns")  # fmt: skip


def test_no_graphs(drawn, measure):
    drawn.launch(10, 20, kernel=(25, 30))
    (step,) = measure(drawn)
    assert (step.graph_tracing, step.unknown_reason) == ("none", None)


def test_whole_graph_spans_hide_what_ran(drawn, measure):
    drawn.graph(10, 20, span=(30, 900))
    drawn.launch(25, 28, kernel=(900, 950))
    (step,) = measure(drawn)
    assert (step.graph_tracing, step.graph_spans, step.busy_ns) == ("graph", 1, 920)
    assert (step.kernels, step.memcpys, step.memsets, step.tklqt_ns) == (None,) * 4
    assert "whole spans" in step.unknown_reason


def test_nodes_and_spans_in_one_step_count_as_busy_and_not_as_operations(drawn, measure):
    drawn.graph(10, 20, span=(30, 100))
    drawn.graph(25, 28, nodes=[(100, 150), (160, 200)])
    (step,) = measure(drawn)
    assert (step.graph_tracing, step.busy_ns, step.kernels) == ("mixed", 160, None)
    assert step.unknown_reason


@pytest.mark.parametrize("version", ["3.0.0", "3.7.2", "3.20.3"])
@pytest.mark.parametrize("with_kernels", [False, True])
def test_graph_work_that_is_missing_makes_device_figures_unknown(measure, version, with_kernels):
    """Also beside directly launched kernels, whose rows are there."""
    trace = TraceBuilder(version=version)
    trace.range("decode#0", 0, 1000)
    trace.graph(10, 20)
    if with_kernels:
        trace.launch(30, 40, kernel=(50, 60))
    (step,) = measure(trace)
    assert step.graph_tracing == "missing"
    assert {name: getattr(step, name) for name in UNKNOWN} == dict.fromkeys(UNKNOWN)
    assert (step.graph_launches, step.hidden_graph_launches) == (1, 1)
    assert step.kernel_launches == int(with_kernels)
    assert "--cuda-graph-trace=node" in step.unknown_reason


def test_one_hidden_graph_among_traced_ones_is_enough(drawn, measure):
    drawn.graph(10, 20, nodes=[(30, 40)])
    drawn.graph(50, 60)
    (step,) = measure(drawn)
    assert (step.graph_tracing, step.hidden_graph_launches, step.idle) == ("missing", 1, None)


def test_launches_without_any_gpu_row_are_not_a_fully_idle_step(drawn, measure):
    drawn.launch(10, 20)
    (step,) = measure(drawn)
    assert (step.launches, step.idle, step.kernels, step.device) == (1, None, None, None)
    assert "no" in step.unknown_reason.lower()


def test_a_trace_of_the_cpu_alone_has_no_cuda_figures(measure):
    trace = TraceBuilder()
    trace.range("prefill#0", 0, 1000)
    (step,) = measure(trace)
    assert (step.launches, step.kernels, step.idle, step.graph_tracing) == (None,) * 4
    assert step.cpu_ns == 1000
    assert "CUDA was not traced" in step.unknown_reason


def test_a_step_that_submits_nothing_in_a_trace_with_work(drawn, measure):
    drawn.range("prefill#1", 2000, 3000)
    drawn.launch(10, 20, kernel=(30, 40))
    drawn.sync(2100, 2110)
    first, second = measure(drawn)
    assert (first.launches, second.launches, second.kernels) == (1, 0, 0)
    assert (second.idle, second.window_ns) == (None, None)
    assert "no GPU work" in second.unknown_reason


@pytest.mark.parametrize("times", [(0, 0), (None, None), (50, None), (None, 60)])
def test_operations_without_times_count_and_make_times_bounds(tmp_path, drawn, times):
    corr = drawn.launch(10, 20)
    drawn.op("kernel", *times, corr)
    drawn.launch(30, 40, kernel=(50, 60))
    analysis = summarize(read_trace(drawn.write(tmp_path / "t.sqlite")))
    (step,) = analysis.steps
    assert (step.kernels, step.untimed_operations, step.lost_launches) == (2, 1, 0)
    assert (step.busy_ns, step.gaps_ns, step.queue_ns) == (10, None, None)
    assert "kernels" not in step.bounds
    assert (step.bounds["busy_ns"], step.bounds["idle"]) == ("lower", "upper")
    assert any("1 of 2 GPU operations have no time" in w for w in analysis.trace.warnings)
    assert not any("no kernel row" in n for n in analysis.notes)


def test_launches_without_any_kernel_row_leave_busy_unknown(measure, drawn):
    drawn.launch(5, 8)
    drawn.copy(10, 12, gpu=(20, 30))
    (step,) = measure(drawn)
    assert (step.device, step.launches, step.memcpy_calls) == (0, 1, 1)
    assert (step.kernels, step.memcpys, step.window_ns, step.idle) == (None, None, None, None)
    assert "none of the step's 1 kernel launches has a kernel row" in (step.unknown_reason or "")


def test_copies_without_a_row_are_said(drawn, tmp_path):
    drawn.launch(5, 8, kernel=(20, 30))
    drawn.copy(10, 12)
    drawn.memset(13, 14)
    analysis = summarize(read_trace(drawn.write(tmp_path / "t.sqlite")))
    assert (analysis.steps[0].memcpy_calls, analysis.steps[0].memcpys) == (1, 0)
    assert [n.split(":")[0] for n in analysis.notes] == [
        "memcpy calls that left no work in the trace",
        "memset calls that left no work in the trace",
    ]
