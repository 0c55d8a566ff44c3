"""Several processes, threads and devices in one trace: figures for each, never mixed."""

from __future__ import annotations

import pytest
from build_trace import INT_MAX, TraceBuilder

from launchlens.metrics import summarize
from launchlens.trace import read_trace


@pytest.fixture
def analyze(tmp_path):
    def measure(trace, **options):
        return summarize(read_trace(trace.write(tmp_path / "t.sqlite")), **options)

    return measure


def test_the_same_correlation_ids_in_two_processes_stay_apart(analyze):
    trace = TraceBuilder(cuda_devices=[(0, 0, 1), (1, 0, 2)], gpus={0: "A", 1: "B"})
    for pid, shift in ((1, 0), (2, 1000)):
        trace.range("prefill", shift, shift + 100, pid=pid)
        trace.call("cudaLaunchKernel", shift + 10, shift + 15, corr=5, pid=pid)
        trace.op("kernel", shift + 20, shift + 60 + pid, 5, pid=pid, name=f"kernel of {pid}")
    analysis = analyze(trace)
    assert [(s.pid, s.busy_ns, s.kernels) for s in analysis.steps] == [(1, 41, 1), (2, 42, 1)]
    assert [[k.name for k in g.kernels] for g in analysis.summary] == [
        ["kernel of 1"],
        ["kernel of 2"],
    ]
    assert analysis.trace.gpu == "A, B"


def test_two_processes_on_one_gpu_keep_each_other_busy(analyze):
    trace = TraceBuilder()
    for pid, kernel in ((1, (20, 60)), (2, (50, 90))):
        trace.range("prefill", 0, 100, pid=pid)
        trace.launch(5, 8, kernel=kernel, pid=pid)
    analysis = analyze(trace)
    assert [(s.pid, s.busy_ns, s.kernels) for s in analysis.steps] == [(1, 70, 1), (2, 70, 1)]


def test_processes_that_number_different_gpus_alike_do_not(analyze):
    """CUDA_VISIBLE_DEVICES: each process calls its own GPU device 0."""
    trace = TraceBuilder(cuda_devices=[(0, 0, 1), (3, 0, 2)])
    for pid, kernel in ((1, (20, 60)), (2, (50, 90))):
        trace.range("prefill", 0, 100, pid=pid)
        trace.launch(5, 8, kernel=kernel, pid=pid)
    assert [s.busy_ns for s in analyze(trace).steps] == [40, 40]


def test_a_step_on_two_devices_has_figures_for_each(analyze):
    trace = TraceBuilder(gpus={0: "A", 1: "A"})
    trace.range("prefill", 0, 100)
    trace.launch(5, 8, kernel=(20, 60), device=0)
    trace.launch(9, 12, kernel=(30, 50), device=1)
    trace.launch(13, 15, kernel=(70, 95), device=1)
    trace.sync(96, 99)
    analysis = analyze(trace)
    first, second = analysis.steps
    assert (first.device, first.launches, first.busy_ns, first.window_ns) == (0, 1, 40, 100)
    assert (second.device, second.launches, second.busy_ns) == (1, 2, 45)
    # A synchronize has no device of its own: it counts once, where most of the work ran.
    assert (first.sync_calls, second.sync_calls) == (0, 1)
    assert [(g.device, g.steps) for g in analysis.summary] == [(0, 1), (1, 1)]


def test_what_the_gpu_idles_after_ran_on_that_gpu(analyze):
    trace = TraceBuilder(gpus={0: "A", 1: "A"})
    trace.range("prefill", 0, 100)
    trace.launch(1, 2, kernel=(10, 50), device=1, name="elsewhere")  # ends at the same instant
    trace.launch(3, 4, kernel=(20, 50), device=0, name="here")
    trace.launch(60, 62, kernel=(80, 100), device=0, name="last")
    group = next(g for g in analyze(trace).summary if g.device == 0)
    assert [(f.name, f.gaps, f.idle_ns) for f in group.gap_followers] == [("here", 1, 30)]


def test_a_span_without_a_device_belongs_to_the_processs_only_one(analyze):
    trace = TraceBuilder()
    trace.range("prefill", 0, 100)
    trace.launch(5, 8, kernel=(20, 30))
    corr = trace.graph(10, 15)
    trace.op("graph", 40, 90, corr, device=INT_MAX)
    (step,) = analyze(trace).steps
    assert (step.device, step.busy_ns, step.graph_tracing) == (0, 60, "graph")


def test_a_span_without_a_device_alone_takes_the_processs_gpu(analyze):
    trace = TraceBuilder(cuda_devices=[(2, 1, 1)], gpus={2: "NVIDIA L4"})
    trace.range("prefill", 0, 100)
    corr = trace.graph(10, 15)
    trace.op("graph", 40, 90, corr, device=INT_MAX)
    analysis = analyze(trace)
    assert (analysis.steps[0].device, analysis.trace.gpu) == (1, "NVIDIA L4")


def test_a_span_without_a_device_among_several_stays_apart_and_is_said(analyze):
    trace = TraceBuilder()
    trace.range("prefill", 0, 100)
    trace.launch(5, 8, kernel=(20, 30), device=0)
    trace.launch(5, 8, kernel=(20, 30), device=1)
    corr = trace.graph(10, 15)
    trace.op("graph", 40, 90, corr, device=INT_MAX)
    analysis = analyze(trace)
    assert any("without a device id" in w for w in analysis.trace.warnings)
    assert {(s.device, s.busy_ns) for s in analysis.steps} == {(-1, 50), (0, 10), (1, 10)}


def test_operations_without_a_process_still_keep_the_device_busy(analyze):
    trace = TraceBuilder()
    trace.range("prefill", 0, 100)
    trace.launch(5, 8, kernel=(20, 30))
    trace.op("kernel", 50, 60, 5, pid=None)
    (step,) = analyze(trace).steps
    assert (step.busy_ns, step.kernels, step.gaps_ns.unlinked) == (20, 1, 20)


def test_ids_that_are_null_on_both_sides_link_nothing(tmp_path):
    trace = TraceBuilder()
    trace.range("prefill", 0, 100)
    trace.launch(5, 8, kernel=(20, 30))
    trace.op("kernel", 50, 60, None)
    trace.call("cudaLaunchKernel", 40, 45, corr=-1)
    trace.calls[-1].corr = None
    read = read_trace(trace.write(tmp_path / "t.sqlite"))
    assert read.info.unlinked_ops == 1


@pytest.mark.parametrize("base", [0, 2**31 - 3, 2**33, 2**62])
def test_correlation_ids_of_any_size_link(analyze, base):
    trace = TraceBuilder()
    trace.range("prefill", 0, 100)
    trace.call("cudaLaunchKernel", 1, 2, corr=1)
    for i in range(4):
        trace.call("cudaLaunchKernel", 5 + 5 * i, 8 + 5 * i, corr=base + 10 + i)
        trace.op("kernel", 30 + 10 * i, 35 + 10 * i, base + 10 + i)
    assert analyze(trace).steps[0].kernels == 4


def test_large_ids_on_one_side_only_link_nothing(tmp_path):
    trace = TraceBuilder()
    trace.call("cudaLaunchKernel", 1, 2, corr=2**33)
    trace.op("kernel", 5, 9, 7)
    assert read_trace(trace.write(tmp_path / "t.sqlite")).info.unlinked_ops == 1
