"""Each rule on a trace drawn by hand: what it finds, and what it leaves alone."""

import pytest
from drawn_traces import call, draw, dtoh, htod, launch, shift, step

from launchlens.blockers import find_blockers, rules

COPY, SYNC = "cudaMemcpyAsync_v3020", "cudaStreamSynchronize_v3020"


def found(calls, windows=((0, 1000),), **more):
    trace, steps = draw(calls, windows)
    return find_blockers(trace, steps, **more)


def only(findings):
    assert len(findings) == 1, [f.title for f in findings]
    return findings[0]


def test_a_pageable_copy_with_host_and_idle_time():
    # The GPU runs gemm 20-40, the copy 110-112, the next kernel 150-170.
    finding = only(
        found(
            [
                launch(10),
                call(COPY, 100, 108, htod(4, 110, 112)),
                call(SYNC, 110, 121),
                launch(140, gpu=(150, 170)),
            ]
        )
    )
    assert (finding.rule, finding.bytes, finding.kinds) == ("pageable-htod", 4, "HtoD pageable")
    assert finding.confidence == "likely"
    assert finding.host_ns == 8 + 11  # in the copy and in the synchronize, not between them
    assert finding.idle_ns == 150 - 112
    assert finding.position == "after gemm, before gemm"
    assert "4 bytes" in finding.title


def test_idle_counts_from_the_copys_begin_and_is_zero_on_a_busy_gpu():
    finding = only(
        found(
            [
                launch(10, gpu=(20, 30)),
                # An old export without the copy's own interval: the copy ends before it begins.
                call(COPY, 100, 108, htod(4, 101, 101)),
                call(SYNC, 110, 121),
                launch(140, gpu=(150, 170)),
            ]
        )
    )
    assert finding.idle_ns == 150 - 101
    busy = [launch(10, gpu=(20, 900)), call(COPY, 100, 108, htod(4, 110, 112), 0)]
    finding = only(found([*busy, call(SYNC, 110, 121), launch(140, gpu=(900, 910))]))
    assert finding.idle_ns == 0


def test_a_pageable_copy_without_synchronize_is_found_too():
    finding = only(found([call(COPY, 100, 108, htod(8, 110, 112)), launch(140)]))
    assert finding.rule == "pageable-htod"


def test_unknown_memory_counts_only_when_the_host_waits():
    unknown = call(COPY, 100, 108, htod(4, 110, 112, src="Unknown"))
    assert found([unknown, launch(140)]) == ()
    finding = only(found([unknown, call(SYNC, 109, 120), launch(140)]))
    assert finding.confidence == "suspected"


def test_device_to_host_with_wait():
    calls = [launch(10), call(COPY, 50, 60, dtoh(8, 70, 72, "Pinned")), call(SYNC, 61, 80)]
    finding = only(found([*calls, launch(90)]))
    assert (finding.rule, finding.kinds, finding.confidence) == (
        "dtoh-sync",
        "DtoH pinned",
        "likely",
    )
    # The last read of a step counts as well, with no idle time to tell.
    finding = only(found(calls))
    assert finding.idle_ns is None


def test_an_asynchronous_read_into_pinned_memory_is_no_blocker():
    calls = [launch(10), call(COPY, 50, 60, dtoh(8, 70, 72, "Pinned")), launch(90)]
    assert found(calls) == ()


def test_a_condition_is_suspected_and_the_mask_check_is_named():
    plain = [launch(10), call(COPY, 50, 60, dtoh(1, 70, 72, "Pinned")), call(SYNC, 61, 80)]
    finding = only(found([*plain, launch(90)]))
    assert finding.confidence == "suspected"
    assert "packed-sequence" not in finding.note
    mask = [launch(1, "cub::DeviceScanKernel<long>"), launch(10, "eltwise<CompareEqFunctor<long>>")]
    finding = only(found([*mask, *plain[1:], launch(90)]))
    assert "packed-sequence" in finding.note
    assert finding.confidence == "suspected"


def test_a_slow_call_from_pinned_memory():
    usual = [launch(1000 * i) for i in range(10)]
    slow = call(COPY, 20_000, 90_000, htod(96, 90_000, 91_000, "Pinned"))
    finding = only(found([*usual, slow, launch(95_000)], windows=((0, 100_000),)))
    assert finding.rule == "slow-pinned-htod"
    assert finding.host_ns == 70_000


def test_a_quick_pinned_copy_is_a_stale_input():
    finding = only(found([launch(10), call(COPY, 50, 60, htod(200, 70, 72, "Pinned")), launch(90)]))
    assert (finding.rule, finding.confidence) == ("stale-input", "suspected")


def test_an_explicit_wait_between_two_launches():
    finding = only(found([launch(10), call("cudaDeviceSynchronize_v3020", 50, 90), launch(100)]))
    assert (finding.rule, finding.kinds) == ("explicit-sync", "cudaDeviceSynchronize")
    assert finding.host_ns == 40
    assert finding.idle_ns == 110 - 50  # since the wait began: the GPU ended at 40


def test_the_callers_wait_at_the_end_is_none():
    assert found([launch(10), call("cudaDeviceSynchronize_v3020", 50, 90)]) == ()
    waits = [call("cudaEventSynchronize", 50, 60), call("cudaDeviceSynchronize", 70, 90)]
    assert found([launch(10), *waits]) == ()


def test_a_blocking_copy_from_pinned_memory_waits_explicitly():
    calls = [launch(10), call(COPY, 50, 60, htod(200, 70, 72, "Pinned")), call(SYNC, 61, 80)]
    finding = only(found([*calls, launch(90)]))
    assert finding.rule == "explicit-sync"


def test_allocations_on_this_and_on_another_thread():
    calls = [
        launch(10),
        call("cudaMalloc_v3020", 50, 90),
        call("cudaMallocAsync_v11020", 91, 92),  # can be captured
        launch(100),
        call("cudaHostAlloc_v3020", 60, 80, thread=1),
        call("cudaHostAlloc_v3020", 2000, 2001, thread=1),  # after the step
    ]
    own, other = found(calls)
    assert (own.rule, own.kinds, own.confidence, own.host_ns) == (
        "alloc",
        "cudaMalloc",
        "likely",
        40,
    )
    assert other.kinds == "cudaHostAlloc (another thread)"
    assert (other.confidence, other.host_ns, other.idle_ns) == ("suspected", None, None)


def test_what_happens_in_the_first_step_only_is_warm_up():
    step0 = [launch(10), call("cuModuleLoadData", 50, 90), call("cudaMalloc", 91, 99), launch(100)]
    rest = [c for c in step0 if "Launch" in c.name]
    calls = [*step0, *shift(rest, 1000), *shift(rest, 2000)]
    findings = found(calls, windows=((0, 900), (1000, 1900), (2000, 2900)))
    assert {f.rule for f in findings} == {"lazy-load", "alloc"}
    assert all(f.confidence == "suspected" and "warm" in f.note.lower() for f in findings)
    assert not any(f.stable for f in findings)
    assert findings[0].count_per_step == pytest.approx(1 / 3, abs=1e-4)


def test_loading_and_tuning_in_every_step():
    calls = [launch(10), call("cuLibraryLoadData", 50, 90), launch(100)]
    calls.append(call("cudaEventElapsedTime_v2_v12080", 120, 121))
    findings = found(
        [*calls, *shift(calls, 1000), *shift(calls, 2000)], ((0, 900), (1000, 1900), (2000, 2900))
    )
    assert {f.rule for f in findings} == {"lazy-load"}
    assert all(f.confidence == "likely" and f.stable for f in findings)


def test_stray_work_on_the_default_stream():
    own = [launch(10 * i, stream=21) for i in range(1, 4)]
    finding = only(found([*own, launch(50, "helper", stream=7)]))
    assert (finding.rule, finding.count_per_step) == ("legacy-stream", 1.0)
    assert finding.kinds == "work on the default stream"


def test_a_step_on_the_default_stream_with_a_forked_stream_is_fine():
    calls = [
        launch(10),
        launch(20),
        call("cudaEventRecord_v3020", 30, 31),
        call("cudaStreamWaitEvent_v3020", 32, 33),
        launch(40, stream=21),
    ]
    assert found(calls) == ()


def test_waiting_for_an_event_from_before_the_step():
    finding = only(found([call("cudaStreamWaitEvent_v3020", 5, 6), launch(10), launch(20)]))
    assert finding.kinds == "wait for an event from before the step"


def test_queries_from_another_thread_only_while_a_step_runs():
    query = [call("cudaEventQuery_v3020", t, t + 1, thread=1) for t in (50, 60, 5000)]
    finding = only(found([launch(10), launch(100), *query]))
    assert (finding.rule, finding.count_per_step) == ("event-query", 2.0)
    assert finding.kinds.endswith("(another thread)")
    assert "thread_local" in finding.remedy


def test_a_query_of_the_steps_own_thread_is_not_helped_by_another_capture_mode():
    finding = only(found([launch(10), call("cudaEventQuery_v3020", 50, 51), launch(100)]))
    assert finding.rule == "event-query"
    assert "thread_local" not in finding.remedy
    assert "leave the query out" in finding.remedy


def test_steps_that_differ():
    base = [launch(10, "a"), launch(50, "b")]
    longer = [*base, launch(100, "b")]
    steps = [base, base, longer, base, longer]
    calls = [c for i, s in enumerate(steps) for c in shift(s, 1000 * i)]
    windows = tuple((1000 * i, 1000 * i + 900) for i in range(5))
    finding = only(found(calls, windows))
    assert (finding.rule, finding.stable, finding.host_ns) == ("unstable-sequence", False, None)
    assert "2 to 3 operations" in finding.note


def test_a_first_step_that_differs_is_warm_up():
    base = [launch(10, "a"), launch(50, "b")]
    calls = [launch(10, "slow"), *shift(base, 1000), *shift(base, 2000), *shift(base, 3000)]
    assert found(calls, tuple((1000 * i, 1000 * i + 900) for i in range(4))) == ()


def test_calls_while_capturing_and_graph_nodes_are_no_findings():
    calls = [
        call("cudaStreamBeginCapture_v10000", 10, 11),
        call("cudaMalloc", 20, 25),
        call("cudaStreamEndCapture_v10000", 30, 31),
        call("cudaGraphLaunch_v10000", 40, 45, htod(4, 50, 52, is_node=True)),
        launch(60),
    ]
    assert found(calls) == ()


def test_counts_and_stability_over_steps():
    copy = [call(COPY, 100, 108, htod(4, 110, 112)), call(SYNC, 110, 121), launch(140)]
    windows = ((0, 900), (1000, 1900))
    finding = only(found([*copy, *shift(copy, 1000)], windows))
    assert (finding.count_per_step, finding.stable) == (1.0, True)
    finding = only(found([*copy, *shift(copy, 300), *shift(copy, 1000)], windows))
    assert (finding.count_per_step, finding.stable) == (1.5, False)


def test_groups_by_bytes_and_names_the_places():
    calls = [launch(10, "void ns::first<int>(int)")]
    for i, size in enumerate((2, 4, 4)):
        calls += [
            call(COPY, 100 + 100 * i, 108 + 100 * i, htod(size, 110 + 100 * i, 112 + 100 * i)),
            call(SYNC, 110 + 100 * i, 121 + 100 * i),
            launch(140 + 100 * i, f"k{i}"),
        ]
    trace, steps = draw(calls, ranges=[("forward", 1, 990), ("layers.1.mlp", 190, 290)])
    findings = find_blockers(trace, steps)
    assert [(f.bytes, f.count_per_step) for f in findings] == [(4, 2.0), (2, 1.0)]
    assert "after k0, before k1, in layers.1.mlp" in findings[0].position
    assert findings[1].position == "after first, before k0, in forward"


def test_phases_are_told_apart():
    copy = [call(COPY, 100, 108, htod(4, 110, 112)), call(SYNC, 110, 121), launch(140)]
    trace, _ = draw([*copy, launch(1010)])
    findings = find_blockers(trace, [step(0, 0, 900), step(1, 1000, 1900, phase="decode")])
    assert [f.title for f in findings] == ["host-to-device copy, 4 bytes, pageable (prefill steps)"]
    assert findings[0].count_per_step == 1.0


def test_a_step_seen_on_two_devices_counts_once():
    copy = [call(COPY, 100, 108, htod(4, 110, 112)), call(SYNC, 110, 121), launch(140)]
    trace, steps = draw(copy)
    assert find_blockers(trace, [*steps, *steps]) == find_blockers(trace, steps)


def test_nothing_to_look_at():
    trace, steps = draw([])
    assert find_blockers(trace, steps) == ()
    assert find_blockers(trace, []) == ()


def test_every_rule_is_documented():
    assert len({rule.id for rule in rules()}) == 13
    for rule in rules():
        for part in ("What:", "Example:", "Remedy:", "References:"):
            assert part in rule.doc, (rule.id, part)
        assert "Why it blocks:" in rule.doc or "Why it matters:" in rule.doc
        assert rule.remedy
