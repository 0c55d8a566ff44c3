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


def span_without_a_device_among_two(**options):
    trace = TraceBuilder(**options)
    trace.range("prefill", 0, 100)
    trace.launch(5, 8, kernel=(20, 30), device=0)
    trace.launch(9, 10, kernel=(20, 30), device=1)
    corr = trace.graph(10, 15)
    trace.op("graph", 40, 90, corr, device=INT_MAX, context=3)
    return trace


def test_a_span_without_a_device_among_several_makes_its_step_unknown(analyze):
    analysis = analyze(span_without_a_device_among_two())
    assert any("without a device id" in w for w in analysis.trace.warnings)
    (step,) = analysis.steps  # one: its work cannot be given to devices
    assert (step.device, step.launches, step.graph_spans) == (None, 3, 1)
    assert (step.window_ns, step.busy_ns, step.idle, step.gaps_ns) == (None, None, None, None)
    assert (step.kernels, step.graph_tracing) == (None, "graph")
    assert "--cuda-graph-trace=node" in (step.unknown_reason or "")


def test_its_context_tells_a_spans_device(analyze):
    contexts = [(1, 0, 1), (3, 1, 1), (3, 0, 2)]  # context 3 of process 1 is on device 1
    analysis = analyze(span_without_a_device_among_two(contexts=contexts))
    assert [(s.device, s.launches, s.busy_ns) for s in analysis.steps] == [(0, 1, 10), (1, 2, 60)]
    assert not analysis.trace.warnings


def test_a_span_without_a_device_makes_what_ran_beside_it_unknown(analyze):
    """Any device of its process may have been the busy one; those of others were not."""
    trace = span_without_a_device_among_two(
        gpus={0: "A", 1: "A", 2: "A"}, cuda_devices=[(0, 0, 1), (1, 1, 1), (2, 0, 2)]
    )
    for tid, start, device in ((2, 0, 0), (2, 200, 0)):
        trace.range("prefill", start, start + 100, tid=tid)
        trace.launch(start + 5, start + 8, kernel=(start + 20, start + 30), tid=tid, device=device)
    trace.range("prefill", 0, 100, pid=2)
    trace.launch(5, 8, kernel=(20, 30), pid=2)
    found = {(s.pid, s.tid, s.start_ns): (s.device, s.busy_ns) for s in analyze(trace).steps}
    assert found == {
        (1, 1, 0): (None, None),
        (1, 2, 0): (0, None),
        (1, 2, 200): (0, 10),
        (2, 1, 0): (0, 10),
    }


def test_a_missing_graph_makes_its_step_unknown_on_all_devices(analyze):
    trace = TraceBuilder()
    trace.range("prefill", 0, 100)
    trace.launch(1, 2, kernel=(20, 30), device=0)
    trace.launch(3, 4, kernel=(30, 40), device=0)
    trace.launch(5, 8, kernel=(20, 30), device=1)
    trace.graph(10, 15)
    (step,) = analyze(trace).steps
    assert (step.device, step.launches, step.hidden_graph_launches) == (None, 4, 1)
    assert (step.kernels, step.window_ns, step.busy_ns) == (None, None, None)


def test_missing_graphs_outside_the_steps_are_said(analyze):
    trace = TraceBuilder()
    trace.graph(1, 2)
    trace.range("prefill", 5, 100)
    trace.launch(6, 8, kernel=(20, 30))
    analysis = analyze(trace)
    assert analysis.steps[0].busy_ns == 10
    (note,) = analysis.notes
    assert note.startswith("process 1: 1 graph launch in other steps, or outside of steps,")


def test_launch_cost_counts_where_the_launch_does(analyze):
    trace = TraceBuilder(gpus={0: "A", 1: "A"})
    trace.range("prefill", 0, 100)
    trace.launch(1, 4, kernel=(20, 60), device=0)
    trace.launch(5, 6, kernel=(30, 50), device=1)
    trace.launch(7, 14, kernel=(70, 95), device=1)
    costs = [(s.device, s.launch_cost_total_ns, s.launch_cost_ns) for s in analyze(trace).steps]
    assert costs == [(0, 3, 3), (1, 8, 4)]


def test_steps_with_missing_graphs_are_not_left_out_of_their_group(analyze):
    """Two eager steps among four must not pass for all of them."""
    trace = TraceBuilder()
    for start in (0, 1000):
        trace.range("prefill", start, start + 100)
        trace.launch(start + 5, start + 8, kernel=(start + 20, start + 30))
    for start in (2000, 3000):
        trace.range("prefill", start, start + 100)
        trace.graph(start + 5, start + 8)
    (group,) = analyze(trace).summary
    assert (group.device, group.steps, group.graph_tracing) == (0, 4, "missing")
    assert group.metrics["launches"].median == 1
    assert (group.metrics["idle"].median, group.metrics["idle"].unknown) == (None, 2)
    assert (group.unknown_reason or "").startswith(
        "in 2 of 4 steps the trace does not hold what 1 of 1 graph launches ran"
    )


def test_what_has_no_device_comes_last(analyze):
    trace = TraceBuilder()
    trace.range("prefill idle", 0, 100)
    for pid in (1, 2):
        trace.range("prefill", 200, 300, pid=pid)
        trace.launch(205, 208, kernel=(220, 230), pid=pid)
    trace.sync(50, 60)
    groups = analyze(trace).summary
    assert [(g.pid, g.device) for g in groups] == [(1, 0), (2, 0), (1, None)]


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
