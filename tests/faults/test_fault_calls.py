"""Calls that failed, were recorded twice, have no name, or are no launches that any list knows."""

from __future__ import annotations

import pytest

ILLEGAL, CAPTURE_UNSUPPORTED, NOT_READY = 700, 900, 600


@pytest.fixture
def step_of(analyze):
    def only(trace, sql=(), **options):
        (step,) = analyze(trace, sql, **options).steps
        return step

    return only


def test_a_failed_launch_is_none_and_misses_no_kernel(drawn, step_of):
    drawn.launch(10, 15, kernel=(20, 40))
    drawn.launch(50, 55, result=ILLEGAL)
    drawn.sync(60, 65)
    drawn.call("cudaMemcpyAsync_v3020", 70, 75, result=ILLEGAL)
    step = step_of(drawn)
    assert (step.launches, step.failed_calls, step.lost_launches) == (1, 2, 0)
    assert (step.memcpy_calls, step.submissions, step.sync_calls) == (0, 1, 1)
    assert (step.bounds, step.kernels, step.unknown_reason) == ({}, 1, None)


def test_a_runtime_call_and_its_driver_call_fail_once(drawn, step_of):
    drawn.launch(10, 15, kernel=(20, 40))
    drawn.call("cudaLaunchKernel_v7000", 50, 60, result=ILLEGAL)
    drawn.call("cuLaunchKernel", 52, 58, result=ILLEGAL)
    step = step_of(drawn)
    assert (step.launches, step.failed_calls) == (1, 1)


def test_a_failed_graph_launch_hides_nothing(drawn, step_of):
    drawn.launch(10, 15, kernel=(20, 40))
    drawn.call("cudaGraphLaunch_v10000", 50, 60, result=ILLEGAL)
    step = step_of(drawn)
    assert (step.graph_launches, step.hidden_graph_launches, step.graph_tracing) == (0, 0, "none")
    assert step.busy_ns == 20


def test_a_query_that_is_not_ready_has_not_failed(drawn, step_of):
    drawn.launch(10, 15, kernel=(20, 40))
    drawn.call("cudaEventQuery_v3020", 50, 51, result=NOT_READY)
    drawn.call("cudaEventQuery_v3020", 52, 53, result=CAPTURE_UNSUPPORTED)
    assert step_of(drawn).failed_calls == 1


def test_a_capture_that_did_not_begin_captures_nothing(drawn, step_of):
    drawn.call("cudaStreamBeginCapture_v10000", 5, 8, result=CAPTURE_UNSUPPORTED)
    drawn.launch(10, 15, kernel=(20, 40))
    drawn.launch(50, 55)
    step = step_of(drawn)
    assert (step.launches, step.captured_calls, step.failed_calls) == (2, 0, 1)
    assert (step.lost_launches, step.bounds["kernels"]) == (1, "lower")


def test_a_capture_that_ends_in_an_error_has_ended(drawn, step_of):
    drawn.call("cudaStreamBeginCapture_v10000", 5, 8)
    drawn.launch(10, 15)
    drawn.call("cudaStreamEndCapture_v10000", 20, 25, result=901)
    drawn.launch(50, 55, kernel=(60, 70))
    drawn.launch(80, 85)
    step = step_of(drawn)
    assert (step.launches, step.captured_calls, step.failed_calls) == (2, 1, 1)


@pytest.mark.parametrize("first", ["outer", "inner"])
@pytest.mark.parametrize("between", [False, True])
def test_a_call_recorded_twice_lasts_from_the_earlier_start_to_the_later_end(
    drawn, analyze, first, between
):
    rows = [("cudaLaunchKernel", 10, 18, 67), ("cudaLaunchKernel_v7000", 12, 20, 0)]
    for name, start, end, event in rows if first == "outer" else rows[::-1]:
        drawn.call(name, start, end, corr=7, event=event)
        if between:
            drawn.call("cuFuncGetAttribute", 13, 14)
    drawn.op("kernel", 30, 40, 7)
    (group,) = (analysis := analyze(drawn)).summary
    (step,) = analysis.steps
    assert (step.launches, step.launch_cost_ns, step.launch_cost_total_ns) == (1, 10, 10)
    assert ("cudaLaunchKernel", 1, 10) in [(c.name, c.count, c.total_ns) for c in group.api_calls]


def test_twins_of_any_kind_are_one_call(drawn, analyze):
    drawn.launch(1, 2, kernel=(3, 4))
    for number, name in enumerate(("cudaStreamSynchronize", "cudaMalloc", "cudaFuncGetAttributes")):
        at = 100 * (number + 1)
        drawn.call(f"{name}_v3020", at, at + 50, corr=500 + number)
        drawn.call(name, at + 10, at + 40, corr=500 + number, event=67)
    (group,) = (analysis := analyze(drawn)).summary
    (step,) = analysis.steps
    assert (step.sync_calls, step.alloc_calls) == (1, 1)
    assert {c.name: c.count for c in group.api_calls}["cudaFuncGetAttributes"] == 1


def test_an_id_used_again_is_no_twin(drawn, analyze):
    drawn.launch(10, 15, corr=7)
    drawn.launch(50, 55, corr=7)
    drawn.op("kernel", 20, 30, 7)
    drawn.op("kernel", 60, 75, 7)
    analysis = analyze(drawn)
    (step,) = analysis.steps
    assert (step.launches, step.kernels, step.lost_launches) == (2, 2, 0)
    assert step.tklqt_ns == (20 - 10) + (60 - 50)
    assert any("1 correlation ids are used by several calls" in w for w in analysis.trace.warnings)


def test_an_id_used_again_goes_to_the_last_call_before_the_operation(drawn, analyze):
    drawn.range("prefill#1", 200_000, 300_000)
    drawn.launch(10, 15, corr=7)
    drawn.launch(200_010, 200_015, corr=7, tid=1)
    drawn.op("kernel", 100, 130, 7)
    drawn.op("kernel", 200_020, 200_030, 7)
    first, second = analyze(drawn).steps
    assert (first.kernels, first.projected_ns) == (1, 30)
    assert (second.kernels, second.projected_ns) == (1, 10)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET nameId = NULL WHERE start >= 50",
        "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET nameId = 999 WHERE start >= 50",
    ],
)
def test_calls_without_a_name_may_be_anything(drawn, analyze, sql):
    drawn.launch(10, 15, kernel=(20, 40))
    drawn.launch(50, 55, kernel=(60, 70))
    drawn.sync(80, 95)
    analysis = analyze(drawn, [sql])
    (step,) = analysis.steps
    assert (step.launches, step.sync_calls, step.unnamed_calls) == (2, 0, 2)  # one has a kernel
    for name in ("launches", "kernel_launches", "sync_calls", "alloc_calls", "submissions"):
        assert step.bounds[name] == "lower", name
    assert (step.kernels, step.busy_ns, "kernels" in step.bounds) == (2, 30, False)
    assert (step.bounds["gaps_ns.sync"], step.bounds["gaps_ns.host"]) == ("lower", "upper")
    assert step.bound is None
    assert any("2 CUDA calls of the steps have no name" in note for note in analysis.notes)
    assert analysis.summary[0].metrics["launches"].bound == "lower"


def test_launches_without_names_are_known_by_their_work(drawn, analyze):
    for i in range(5):
        drawn.launch(10 * i, 10 * i + 5, kernel=(1_000 + 10 * i, 1_005 + 10 * i))
    drawn.graph(60, 65, nodes=[(2_000, 2_010), (2_020, 2_030)])
    drawn.sync(80, 95)
    (step,) = analyze(drawn, ["UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET nameId = NULL"]).steps
    assert (step.kernel_launches, step.graph_launches, step.launches) == (5, 1, 6)
    assert (step.unnamed_calls, step.sync_calls, step.kernels) == (7, 0, 7)
    assert step.bounds["launches"] == step.bounds["sync_calls"] == "lower"


def test_a_launch_without_a_name_counts_once_with_the_drivers_call_inside(drawn, analyze):
    drawn.launch(10, 30, corr=1, kernel=(40, 60))
    drawn.call("cuLaunchKernel", 15, 25, corr=1)
    sql = "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET nameId = NULL WHERE start = 10"
    (step,) = analyze(drawn, [sql]).steps
    assert (step.launches, step.unnamed_calls, step.kernels) == (1, 1, 1)


def test_an_unknown_call_with_a_kernel_is_named(drawn, analyze):
    drawn.launch(10, 15, kernel=(20, 40))
    drawn.launch(50, 55, kernel=(60, 70), api="cudaLaunchOfTomorrow_v19000")
    drawn.call("cudaEventRecord_v3020", 80, 81)
    analysis = analyze(drawn)
    (step,) = analysis.steps
    assert (step.launches, step.unlisted_launches, step.kernels) == (1, 1, 2)
    assert (step.bounds["launches"], step.inter_launch_ns) == ("lower", None)
    assert "sync_calls" not in step.bounds
    assert any("cudaLaunchOfTomorrow_v19000 ×1" in note for note in analysis.notes)


@pytest.mark.parametrize("api", ["cudaLaunch_v3020", "cuLaunch", "cuLaunchGrid",
                                 "cuLaunchGridAsync", "cudaLaunch_ptsz"])  # fmt: skip
def test_old_launch_calls(drawn, step_of, api):
    drawn.launch(10, 15, kernel=(20, 40), api=api)
    step = step_of(drawn)
    assert (step.kernel_launches, step.unlisted_launches, step.bounds) == (1, 0, {})


@pytest.mark.parametrize("column", ["globalTid", "start", "end"])
def test_calls_without_thread_or_time_may_be_any_steps(drawn, analyze, column):
    drawn.launch(10, 15, kernel=(20, 40))
    drawn.launch(50, 55, kernel=(60, 70))
    sql = f"UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET {column} = NULL WHERE start = 50"
    analysis = analyze(drawn, [sql])
    (step,) = analysis.steps
    assert (step.launches, step.bounds["launches"]) == (1, "lower")
    assert any("1 CUDA API calls name no thread or no time" in w for w in analysis.trace.warnings)


def test_a_cooperative_launch_on_two_devices_is_one_on_each(drawn, analyze):
    corr = drawn.call("cudaLaunchCooperativeKernelMultiDevice_v9000", 10, 15)
    drawn.op("kernel", 20, 30, corr, device=0)
    drawn.op("kernel", 20, 35, corr, device=1)
    drawn.launch(40, 45, kernel=(50, 60), device=1)
    drawn.sync(70, 80)
    steps = {step.device: step for step in analyze(drawn).steps}
    assert [steps[d].launches for d in (0, 1)] == [1, 2]
    assert [steps[d].step_launches for d in (0, 1)] == [2, 2]
    assert [steps[d].sync_calls for d in (0, 1)] == [0, 1]
    assert [steps[d].launch_cost_total_ns for d in (0, 1)] == [5, 10]


def test_work_of_other_threads_is_told_from_a_twentieth_on(drawn, analyze):
    for number in range(20):
        at = 100 * (number + 1)
        drawn.launch(at, at + 5, kernel=(at + 10, at + 20))
    drawn.launch(50, 55, kernel=(60, 70), tid=9)
    quiet = analyze(drawn)
    assert quiet.steps[0].other_thread_submissions == 1
    assert not any("other threads" in note for note in quiet.notes)
    drawn.copy(80, 85, gpu=(90, 95), tid=9)
    drawn.sync(86, 99, tid=9)
    told = analyze(drawn)
    assert told.steps[0].other_thread_submissions == 2
    assert any("2 launches and copies during each prefill step" in n and "9 (×2)" in n
               for n in told.notes)  # fmt: skip


def test_what_is_another_steps_work_is_not_other_threads_work(drawn, analyze):
    drawn.range("prefill#0", 0, 100_000, tid=2)
    for tid in (1, 2):
        drawn.launch(10, 15, kernel=(20, 40), tid=tid)
    assert [s.other_thread_submissions for s in analyze(drawn).steps] == [0, 0]


def test_calls_without_any_correlation_id_own_nothing(drawn, analyze):
    drawn.launch(10, 15, kernel=(20, 40))
    drawn.launch(50, 55, kernel=(60, 70))
    analysis = analyze(drawn, ["UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET correlationId = NULL"])
    (step,) = analysis.steps
    assert (step.launches, step.lost_launches, step.kernels) == (2, 2, None)
    assert analysis.trace.unlinked_ops == 2


@pytest.mark.parametrize("table", ["RUNTIME", "KERNEL"])
def test_times_that_no_recording_has_are_none(drawn, analyze, table):
    drawn.launch(10, 15, kernel=(20, 40))
    drawn.launch(50, 55, kernel=(60, 70))
    sql = f"UPDATE CUPTI_ACTIVITY_KIND_{table} SET end = {2**63 - 1} WHERE start IN (50, 60)"
    (step,) = analyze(drawn, [sql]).steps
    assert (step.launches, step.kernels) == ((1, 1) if table == "RUNTIME" else (2, 2))
    assert step.bounds["launches" if table == "RUNTIME" else "busy_ns"] == "lower"
