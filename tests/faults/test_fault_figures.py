"""Each small export with its right figures; each stands for a kind of fault.

The figures are those of the rows as they were drawn: a step is 200 µs long unless said, a kernel 5,
and starts 5 after its call.
"""

from __future__ import annotations

from fault_rows import values


def test_the_healthy_one(analyzed):
    steps = analyzed("baseline")["steps"]
    assert (
        values(steps, "launches", "kernels", "window_ns", "busy_ns", "idle", "bounds")
        == [(6, 6, 200_000, 30_000, 0.85, {})] * 8
    )


def test_text_in_a_windows_code_page_is_read(analyzed, cli):
    steps = analyzed("export-metadata-not-utf8")["steps"]
    assert values(steps, "launches", "kernels", "busy_ns", "idle") == [(5, 5, 25_000, 0.875)] * 3
    for command in ("blockers", "diff baseline"):
        code, _, err = cli(*command.split(), "export-metadata-not-utf8")
        assert (code, err) == (0, "")


def test_ranges_without_a_thread_are_none(cli):
    code, out, err = cli("analyze", "nvtx-rows-without-thread")
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert "no NVTX ranges" in err
    assert "1 NVTX ranges name no thread" in err


def test_empty_tables_of_a_recording_without_cuda_say_nothing(analyzed, compared, cli):
    steps = analyzed("cuda-not-traced-empty-tables")["steps"]
    names = ("launches", "sync_calls", "kernels", "busy_ns", "idle", "graph_tracing")
    assert values(steps, *names) == [(None,) * 6] * 8
    row = compared("cuda-not-traced-empty-tables")["launches"]
    assert (row["value"], row["verdict"]) == (None, "unknown")
    code, _, err = cli("diff", "baseline", "cuda-not-traced-empty-tables",
                       "--fail-on", "launches>+0")  # fmt: skip
    assert code == 3
    assert "unknown" in err


def test_kernels_without_a_time_count_and_leave_times_bounds(analyzed, said, compared):
    found = analyzed("kernels-without-time")
    names = ("kernels", "untimed_operations", "lost_launches", "busy_ns", "gaps_ns", "bound")
    assert values(found["steps"], *names) == [(6, 3, 0, 15_000, None, None)] * 3
    bounds = found["steps"][0]["bounds"]
    assert (bounds["busy_ns"], bounds["idle"]) == ("lower", "upper")
    assert "kernels" not in bounds
    (kernel,) = found["summary"][0]["kernels"]
    assert (kernel["count"], kernel["total_ns"], kernel["total_bound"]) == (18, 45_000, "lower")
    text = said("kernels-without-time")
    assert "GPU idle ≤ 92.5%" in text
    assert "work 6 ≥ 15.0 µs unknown 5.00 µs" in text
    assert "no kernel row" not in text
    rows = compared("kernels-without-time")
    assert rows["kernels"]["verdict"] == "neutral"  # as many are neither better nor worse
    assert rows["busy_ns"]["verdict"] == "incomparable"
    assert (rows["idle"]["verdict"], rows["idle"]["change_bound"]) == ("incomparable", None)


def test_a_kernel_that_ends_before_it_starts_has_no_time(analyzed, said):
    found = analyzed("kernel-ends-before-it-starts")
    names = ("kernels", "busy_ns", "window_ns", "gaps_ns")
    assert values(found["steps"], *names) == [(2, 10_000, 100_000, None)]
    assert found["steps"][0]["bounds"]["busy_ns"] == "lower"
    kernels = {k["name"]: k for k in found["summary"][0]["kernels"]}
    assert {k["share"] for k in kernels.values()} == {None}
    assert (kernels["negative"]["total_ns"], kernels["negative"]["median_ns"]) == (0, None)
    assert any("end before they start" in warning for warning in found["trace"]["warnings"])
    assert "−" not in said("kernel-ends-before-it-starts")


def test_losses_that_nsys_tells_stand_beside_the_headline(analyzed, said, compared, cli):
    (step,) = analyzed("lost-events-diagnostic")["steps"]
    assert (step["launches"], step["bounds"]["launches"]) == (0, "lower")
    assert step["bounds"]["kernels"] == step["bounds"]["sync_calls"] == "lower"
    text = said("lost-events-diagnostic")
    assert text.index("≥ 0 launches") < text.index("Not all CUDA events might") < 400
    rows = compared("lost-events-diagnostic")
    verdicts = (rows["launches"]["verdict"], rows["kernels"]["verdict"])
    assert verdicts == ("incomparable", "neutral")
    assert rows["launches"]["change"] is None
    for condition in ("launches>5", "kernels>100", "sync_calls>=1"):
        code, _, err = cli("analyze", "lost-events-diagnostic", "--fail-on", condition)
        assert code == 3, condition
        assert "bound" in err
    for name in ("markdown", "html"):
        _, out, _ = cli("analyze", "lost-events-diagnostic", "--format", name)
        assert "Not all CUDA events might have been collected" in out
        assert "≥ 0" in out
    _, out, _ = cli("diff", "baseline", "lost-events-diagnostic")
    assert "Not all CUDA events might" in out.split("metric")[0]


def test_which_gpu_is_device_0_is_not_guessed(analyzed, said):
    steps = analyzed("two-ranks-both-device-0")["steps"]
    assert {s["pid"] for s in steps} == {1000, 1001}
    names = ("launches", "kernels", "window_ns", "busy_ns", "idle", "gaps_ns", "kernel_busy_ns")
    assert values(steps, *names) == [(5, 5, 200_000, None, None, None, None)] * 6
    assert "which GPU is device 0" in said("two-ranks-both-device-0")


def test_a_graph_on_two_devices_is_a_launch_on_each_and_one_of_the_step(analyzed, said):
    steps = analyzed("graph-on-two-devices")["steps"]
    names = ("device", "graph_launches", "launches", "step_launches", "graph_tracing", "kernels")
    assert (
        sorted(values(steps, *names))
        == [(0, 1, 1, 1, "node", 4)] * 3 + [(1, 1, 1, 1, "node", 4)] * 3
    )
    assert "1 launch per decode step" in said("graph-on-two-devices")


def test_a_call_recorded_twice_is_one_call_in_tables_too(analyzed):
    found = analyzed("call-recorded-twice")
    assert values(found["steps"], "launches", "launch_cost_total_ns") == [(5, 35_000)] * 3
    (group,) = found["summary"]
    calls = [(c["name"], c["count"], c["total_ns"], c["median_ns"]) for c in group["api_calls"]]
    assert calls == [("cudaLaunchKernel", 15, 105_000, 7_000)]
    assert found["trace"]["api_calls"] == 15


def test_old_launch_calls_are_launches(analyzed):
    steps = analyzed("legacy-launch-call")["steps"]
    assert values(steps, "launches", "kernel_launches", "kernels", "bounds") == [(5, 5, 5, {})] * 3


def test_launches_of_other_threads_are_told(analyzed, said):
    steps = analyzed("launches-on-another-thread")["steps"]
    assert values(steps, "launches", "other_thread_submissions") == [(1, 8)] * 3
    assert "made 8 launches and copies during each prefill step" in said(
        "launches-on-another-thread"
    )
    (window,) = analyzed("launches-on-another-thread", "--whole")["steps"]
    assert (window["launches"], window["kernels"]) == (27, 27)


def test_without_rows_of_the_gpu_nothing_of_it_is_known(analyzed):
    steps = analyzed("no-gpu-rows")["steps"]
    names = ("launches", "memcpy_calls", "kernels", "busy_ns", "idle", "lost_launches")
    assert values(steps, *names) == [(5, 2, None, None, None, 5)] * 3


def test_an_empty_graph_is_no_fault_of_the_recorders_mode(analyzed):
    (step,) = analyzed("empty-graph-at-node-level")["steps"]
    assert (step["graph_tracing"], step["idle"], step["kernels"]) == ("missing", None, None)
    assert "empty" in step["unknown_reason"]
    assert "exports no graph work" not in step["unknown_reason"]
    assert "newer" not in step["unknown_reason"]


def test_unified_memory_moves_pages_without_a_call(analyzed):
    found = analyzed("unified-memory-migrations")
    assert (found["trace"]["ops"], found["trace"]["unlinked_ops"]) == (21, 0)
    assert (found["trace"]["warnings"], found["notes"]) == ([], [])
    assert values(found["steps"], "launches", "kernels", "busy_ns") == [(1, 1, 80_000)] * 3


def test_generate_holds_the_forward_passes_that_are_the_steps(analyzed):
    steps = analyzed("generate-around-forward")["steps"]
    assert values(steps, "range", "launches", "cpu_ns") == [("forward", 3, 150_000)] * 5


def test_calls_without_names_leave_counts_bounds_from_below(analyzed, said, cli):
    steps = analyzed("call-names-null")["steps"]
    names = ("launches", "sync_calls", "unnamed_calls", "graph_tracing", "graph_spans", "kernels")
    assert values(steps, *names) == [(1, 0, 3, "graph", 1, None)] * 8
    assert steps[0]["bounds"]["launches"] == steps[0]["bounds"]["sync_calls"] == "lower"
    assert steps[0]["bounds"]["idle"] == "lower"
    assert "24 CUDA calls of the steps have no name" in said("call-names-null")
    assert "but for 8 that have work of their own: launches" in said("call-names-null")
    code, _, _ = cli("analyze", "call-names-null", "--fail-on", "launches>3")
    assert code == 3
