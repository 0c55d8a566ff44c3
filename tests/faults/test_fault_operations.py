"""Operations that are lost, have no time, another clock, or a GPU that cannot be told."""

from __future__ import annotations

import pytest
from build_trace import START_END, TraceBuilder

from launchlens.errors import StepNotFoundError


def test_a_lost_kernel_makes_bounds_of_what_it_would_have_changed(drawn, analyze):
    drawn.launch(10_000, 10_005, kernel=(20_000, 40_000))
    drawn.launch(50_000, 50_005)
    analysis = analyze(drawn)
    (step,) = analysis.steps
    assert (step.launches, step.lost_launches, step.kernels, step.memcpys) == (2, 1, 1, 0)
    assert (step.busy_ns, step.idle, step.gaps_ns, step.bound) == (20_000, 0.8, None, None)
    assert {n: step.bounds.get(n) for n in ("kernels", "memcpys", "busy_ns", "idle")} == {
        "kernels": "lower", "memcpys": "lower", "busy_ns": "lower", "idle": "upper",
    }  # fmt: skip
    assert "launches" not in step.bounds
    assert "1 of the step's 2 kernel launches have no kernel row" in step.unknown_reason
    assert any("1 kernel launch in 1 step have no kernel row" in n for n in analysis.notes)
    (group,) = analysis.summary
    assert (group.gap_histogram, group.gap_followers) == ((), ())
    assert [(k.count_bound, k.share) for k in group.kernels] == [("lower", None)]


def test_a_busy_gpu_is_a_busy_gpu_whatever_is_lost(drawn, analyze):
    drawn.launch(10, 15, kernel=(1_000, 99_000))
    drawn.launch(50, 55)
    assert analyze(drawn).steps[0].bound == "gpu-bound"


def test_bounds_from_both_sides_leave_idle_unknown(drawn, analyze):
    drawn.graph(10, 15, span=(1_000, 30_000))
    drawn.launch(50, 55, kernel=(30_000, 40_000))
    drawn.launch(60, 65)
    (step,) = analyze(drawn).steps
    assert (step.graph_tracing, step.lost_launches) == ("graph", 1)
    assert (step.idle, step.busy_ns, step.window_ns) == (None, None, 100_000)


def test_one_step_that_lost_a_kernel_bounds_the_group(drawn, analyze):
    drawn.range("prefill#1", 200_000, 300_000)
    for start in (10_000, 210_000):
        drawn.launch(start, start + 5, kernel=(start + 10_000, start + 30_000))
    drawn.launch(250_000, 250_005)
    (group,) = analyze(drawn).summary
    assert (group.metrics["kernels"].median, group.metrics["kernels"].bound) == (1, "lower")
    assert (group.metrics["idle"].bound, group.metrics["launches"].bound) == ("upper", None)
    assert group.metrics["gaps_ns.host"].median is None


@pytest.mark.parametrize(
    ("start", "end"), [(0, 0), (None, None), (0, 60), (50, None), (60, 50), (50, 0)]
)
def test_an_operation_without_a_time_counts_where_it_ran(drawn, analyze, start, end):
    drawn.launch(10, 15, kernel=(20, 40))
    corr = drawn.call("cudaMemcpyAsync_v3020", 45, 48)
    drawn.op("memcpy", start, end, corr)
    (step,) = analyze(drawn).steps
    assert (step.kernels, step.memcpys, step.untimed_operations) == (1, 1, 1)
    assert (step.busy_ns, step.gaps_ns) == (20, None)
    assert {step.bounds[n] for n in ("busy_ns", "window_ns", "tklqt_ns")} == {"lower"}
    assert {step.bounds[n] for n in ("idle", "lead_in_ns", "tail_ns")} == {"upper"}


def test_a_step_whose_operations_all_lack_a_time(drawn, analyze):
    drawn.op("kernel", 0, 0, drawn.launch(10, 15), device=0)
    (step,) = analyze(drawn).steps
    assert (step.device, step.kernels, step.window_ns, step.idle) == (0, 1, None, None)
    assert "none of the step's 1 operations has a time" in step.unknown_reason


def test_nodes_without_a_time_are_no_missing_graph(drawn, analyze):
    corr = drawn.graph(10, 15, nodes=[(20, 30)])
    drawn.op("kernel", 0, 0, corr, node=77)
    (step,) = analyze(drawn).steps
    assert (step.graph_tracing, step.kernels, step.hidden_graph_launches) == ("node", 2, 0)


@pytest.mark.parametrize(("ahead", "agree"), [(1_000, True), (1_001, False)])
def test_an_operation_before_its_call_shows_that_clocks_disagree(drawn, analyze, ahead, agree):
    drawn.launch(10_000, 10_005, kernel=(20_000, 40_000))
    drawn.launch(50_000, 50_005, kernel=(50_000 - ahead, 60_000))
    (step,) = analyze(drawn).steps
    assert (step.busy_ns, step.kernels, step.idle) == (
        30_000 + ahead,
        2,
        pytest.approx(0.69, abs=0.02),
    )
    known = [v is not None for v in (step.gaps_ns, step.queue_ns, step.tklqt_ns)]
    assert known == [agree] * 3
    assert ("clocks" in (step.unknown_reason or "")) == (not agree)


def two_processes(gpus, table=()):
    trace = TraceBuilder(gpus=dict.fromkeys(range(gpus), "NVIDIA H200"))
    trace.cuda_devices = list(table)
    for pid, at in ((1, 10), (2, 5_000)):
        trace.range("prefill#0", 0, 100_000, pid=pid)
        trace.launch(at, at + 5, kernel=(at + 10_000, at + 20_000), pid=pid)
    return trace


def test_two_processes_on_one_gpu_share_it(analyze):
    assert [s.busy_ns for s in analyze(two_processes(1)).steps] == [14_990] * 2


def test_a_table_of_devices_tells_which_gpu_is_meant(analyze):
    apart = two_processes(2, [(0, 0, 1), (1, 0, 2)])
    assert [s.busy_ns for s in analyze(apart).steps] == [10_000] * 2
    shared = two_processes(2, [(1, 0, 1), (1, 0, 2)])
    assert [s.busy_ns for s in analyze(shared).steps] == [14_990] * 2


def test_without_the_table_busy_is_unknown_where_it_matters(analyze):
    (one, two) = analyze(two_processes(2)).steps
    for step in (one, two):
        assert (step.busy_ns, step.idle, step.gaps_ns, step.bound) == (None,) * 4
        assert (step.launches, step.kernels, step.window_ns) == (1, 1, 100_000)
        assert "nsys 2025.1" in step.unknown_reason


def test_processes_that_never_run_together_need_no_table(analyze):
    trace = two_processes(2)
    trace.range("prefill#1", 200_000, 300_000, pid=1)
    trace.launch(200_010, 200_015, kernel=(210_000, 220_000), pid=1)
    alone = [s for s in analyze(trace).steps if s.start_ns == 200_000]
    assert [(s.busy_ns, s.unknown_reason) for s in alone] == [(10_000, None)]


def test_ranges_that_hold_no_step_are_counted(analyze):
    trace = TraceBuilder()
    texts = ("execute_context_1(5)_generation_0(0)", "execute_context_0(0)_generation_0(0)")
    for number, text in enumerate((*texts, texts[0], texts[0])):
        at = 1_000 * number
        trace.range(text, at, at if number == 2 else at + 900, event=START_END)
        if number < 3:
            trace.launch(at, at + 5, kernel=(at + 10, at + 20))
    analysis = analyze(trace)
    assert ([s.start_ns for s in analysis.steps], analysis.empty_ranges) == ([0], 3)
    assert any("left out: 3 ranges that would be steps" in note for note in analysis.notes)


@pytest.mark.parametrize("start", ["-9223372036854775808", "9223372036854775807", "NULL"])
def test_ranges_that_no_recording_could_have_are_told(analyze, start):
    trace = TraceBuilder()
    for at in (0, 1_000, 2_000):
        trace.range("prefill", at, at + 900)
        trace.launch(at, at + 5, kernel=(at + 10, at + 20))
    analysis = analyze(trace, [f"UPDATE NVTX_EVENTS SET start = {start} WHERE start = 1000"])
    assert [s.start_ns for s in analysis.steps] == [0, 2_000]
    assert any(
        "1 NVTX ranges have no start, or one hours away" in w for w in analysis.trace.warnings
    )


def test_ranges_of_which_none_holds_a_call(analyze):
    trace = TraceBuilder()
    trace.range("prefill", 0, 100)
    trace.launch(500, 505, kernel=(510, 520))
    with pytest.raises(StepNotFoundError, match="none of them holds a CUDA call"):
        analyze(trace)


def test_every_container_gives_its_phase_to_what_it_holds(analyze):
    trace = TraceBuilder()
    for number in range(3):
        at = 1_000 * number
        trace.range(f"decode#{number}", at, at + 900)
        trace.range("forward", at + 100, at + 800)
        trace.launch(at + 200, at + 205, kernel=(at + 210, at + 220))
    found = [(s.range, s.phase, s.start_ns) for s in analyze(trace).steps]
    assert found == [("forward", "decode", at) for at in (100, 1_100, 2_100)]


@pytest.mark.parametrize(
    ("outside", "inside", "steps"),
    [
        ("generate", "forward", [("forward", "unknown")] * 2),
        ("generate", "step 5", [("step 5", "unknown")] * 2),
        ("decode#0", "forward", [("forward", "decode")] * 2),
        ("generate", "attention", [("generate", "decode")]),
        ("request", "forward", [("forward", "unknown")] * 2),
    ],
)
def test_a_range_around_forward_passes_is_no_step(analyze, outside, inside, steps):
    trace = TraceBuilder()
    trace.range(outside, 0, 1_000)
    for at in (100, 500):
        trace.range(inside, at, at + 300)
        trace.launch(at + 10, at + 15, kernel=(at + 20, at + 30))
    assert [(s.range, s.phase) for s in analyze(trace).steps] == steps


def losing(text, pid=None):
    trace = TraceBuilder()
    trace.range("prefill#0", 0, 100_000)
    trace.launch(10, 15, kernel=(20, 40))
    trace.diagnostics = [(2, text)]
    return trace


def test_a_loss_that_nsys_is_sure_of_makes_every_count_a_lower_bound(analyze):
    analysis = analyze(losing("1,234 CUDA events were lost."))
    (step,) = analysis.steps
    counts = ("launches", "sync_calls", "kernels", "memcpys", "alloc_calls", "graph_launches")
    assert {step.bounds[name] for name in counts} == {"lower"}
    # A kernel that was lost may have kept the GPU busy, and its gap was then none.
    assert (step.busy_ns, step.bounds["busy_ns"]) == (20, "lower")
    assert step.bounds["idle"] == "upper"
    assert step.gaps_ns is None
    assert any("1,234 CUDA events were lost." in loss for loss in analysis.losses)


def test_a_loss_that_may_be_is_not_believed_against_the_rows(analyze):
    may_be = "Not all CUDA events might have been collected."
    analysis = analyze(losing(may_be))
    assert (analysis.steps[0].bounds, analysis.losses) == ({}, ())
    trace = losing(may_be)
    trace.launch(50, 55)
    assert analyze(trace).steps[0].bounds["launches"] == "lower"
    trace = losing(may_be)
    trace.op("kernel", 60, 70, 12_345)
    assert analyze(trace).steps[0].bounds["launches"] == "lower"


def test_what_was_submitted_before_the_recording_is_no_loss(analyze):
    trace = losing("Not all CUDA events might have been collected.")
    trace.op("kernel", 1, 5, 12_345)
    for at in (100, 200):
        trace.launch(at, at + 5, kernel=(at + 10, at + 20))
    (step,) = analyze(trace).steps
    assert (step.kernels, step.bounds) == (3, {})


def test_losses_of_other_things_than_cuda_bound_nothing(analyze):
    for text in ("Not all NVTX events might have been collected.", "12 samples were lost."):
        assert analyze(losing(text)).losses == ()


def test_kernels_lost_outside_of_steps_may_have_kept_the_gpu_busy(drawn, analyze):
    drawn.launch(10, 15, kernel=(20, 40))
    drawn.launch(50, 55, tid=2)
    analysis = analyze(drawn)
    assert analysis.steps[0].lost_launches == 0
    assert any(
        "1 kernel launch in other steps, or outside of steps" in note for note in analysis.notes
    )
