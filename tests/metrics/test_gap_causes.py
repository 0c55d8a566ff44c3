"""Each cause of a gap on a trace drawn by hand, from file to figures.

One unit is a nanosecond. Expected figures are counted by eye on the drawing in each test.
"""

from __future__ import annotations

from dataclasses import asdict

import pytest
from build_trace import TraceBuilder

from launchlens.catalogue import gap_causes
from launchlens.metrics import summarize
from launchlens.metrics.idle import GapKind, Wait
from launchlens.trace import read_trace


@pytest.fixture
def step_of(tmp_path):
    """The only step of a drawn trace."""

    def measure(trace, **options):
        (step,) = summarize(read_trace(trace.write(tmp_path / "t.sqlite")), **options).steps
        return step

    return measure


@pytest.fixture
def drawn():
    trace = TraceBuilder()
    trace.range("prefill#0", 0, 100)
    return trace


def causes(step):
    """Causes that have any time; they must sum to the idle time whatever else is tested."""
    gaps = asdict(step.gaps_ns)
    assert sum(gaps.values()) == step.window_ns - step.busy_ns
    return {name: ns for name, ns in gaps.items() if ns}


def test_lead_in_and_tail(drawn, step_of):
    drawn.launch(10, 15, kernel=(20, 90))
    step = step_of(drawn)
    assert causes(step) == {"lead_in": 20, "tail": 10}
    assert (step.lead_in_ns, step.tail_ns, step.window_ns) == (20, 10, 100)
    assert step.idle == pytest.approx(0.3)


def test_the_host_that_ran_ahead_has_a_negative_tail_and_a_longer_window(drawn, step_of):
    drawn.launch(10, 15, kernel=(20, 130))
    step = step_of(drawn)
    assert (step.window_ns, step.tail_ns, step.cpu_ns) == (130, -30, 100)
    assert causes(step) == {"lead_in": 20}


def test_host_until_the_call_starts_launch_from_then_on(drawn, step_of):
    drawn.launch(0, 5, kernel=(10, 20))
    drawn.launch(50, 55, kernel=(58, 100))  # idle 20-58: host 20-50, launch 50-58
    assert causes(step_of(drawn)) == {"lead_in": 10, "host": 30, "launch": 8}


def test_work_submitted_before_the_gap_began_waits_for_the_device(drawn, step_of):
    drawn.launch(0, 5, kernel=(10, 20))
    drawn.launch(20, 25, kernel=(60, 100))  # called at the very instant the gap begins
    assert causes(step_of(drawn)) == {"lead_in": 10, "device": 40}


def test_sync_takes_its_instants_from_host_and_launch(drawn, step_of):
    drawn.launch(0, 5, kernel=(10, 20))
    drawn.sync(6, 30)  # spans the gap's edge: 20-30 of it counts
    drawn.launch(50, 55, kernel=(60, 100))
    step = step_of(drawn)
    assert causes(step) == {"lead_in": 10, "sync": 10, "host": 20, "launch": 10}
    assert step.sync_calls == 1


def test_a_blocking_copy_waits_like_a_synchronize(drawn, step_of):
    drawn.launch(0, 5, kernel=(10, 20))
    drawn.copy(30, 70, gpu=(50, 60), api="cudaMemcpy_v3020")  # idle 20-50: host 10, sync 20
    drawn.launch(75, 80, kernel=(90, 100))  # idle 60-90: sync to 70, host to 75, launch to 90
    assert causes(step_of(drawn)) == {"lead_in": 10, "host": 15, "sync": 30, "launch": 15}


def test_an_asynchronous_copy_does_not_wait(drawn, step_of):
    drawn.launch(0, 5, kernel=(10, 20))
    drawn.copy(30, 70, gpu=(50, 100))
    assert causes(step_of(drawn)) == {"lead_in": 10, "host": 10, "launch": 20}


def test_a_synchronize_on_another_thread_is_not_the_steps_wait(drawn, step_of):
    drawn.launch(0, 5, kernel=(10, 20))
    drawn.sync(20, 50, tid=2)
    drawn.launch(50, 55, kernel=(60, 100))
    step = step_of(drawn)
    assert causes(step) == {"lead_in": 10, "host": 30, "launch": 10}
    assert step.sync_calls == 0


def test_an_operation_without_a_call_leaves_an_unlinked_gap(drawn, step_of):
    drawn.launch(0, 5, kernel=(10, 20))
    drawn.op("kernel", 50, 100, corr=99_999)
    step = step_of(drawn)
    assert causes(step) == {"lead_in": 10, "unlinked": 30}
    assert step.kernels == 1, "no step owns it, though it keeps the device busy"


def test_the_lead_in_takes_precedence_over_who_ends_the_gap(drawn, step_of):
    drawn.op("kernel", 5, 8, corr=99_999)  # another's work before the step's first operation
    drawn.launch(10, 15, kernel=(20, 100))
    assert causes(step_of(drawn)) == {"lead_in": 17}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # Two operations start at 60; the smaller correlation id was submitted in time…
        ({"corr": 50, "call": 5}, {"corr": 51, "call": 55}, {"device": 40}),
        # … or the larger one was: then the gap waited for the smaller one's call.
        ({"corr": 51, "call": 5}, {"corr": 50, "call": 55}, {"host": 35, "launch": 5}),
    ],
)
def test_of_operations_that_start_together_the_smallest_id_counts(
    drawn, step_of, first, second, expected
):
    drawn.call("cudaLaunchKernel", 0, 2, corr=1)
    drawn.op("kernel", 10, 20, 1)
    for one in (first, second):
        drawn.call("cudaLaunchKernel", one["call"], one["call"] + 2, corr=one["corr"])
        drawn.op("kernel", 60, 100, one["corr"], stream=one["corr"])
    assert causes(step_of(drawn)) == {"lead_in": 10} | expected


def test_of_operations_that_start_together_the_smaller_process_counts_first(drawn, step_of):
    drawn.launch(0, 5, kernel=(10, 20))
    drawn.call("cudaLaunchKernel", 55, 57, corr=900)
    drawn.op("kernel", 60, 100, 900)
    drawn.call("cudaLaunchKernel", 5, 7, corr=1, pid=2)  # smaller id, larger process
    drawn.op("kernel", 60, 100, 1, pid=2)
    assert causes(step_of(drawn)) == {"lead_in": 10, "host": 35, "launch": 5}


def test_other_steps_and_threads_keep_the_device_busy(drawn, step_of):
    drawn.launch(0, 5, kernel=(10, 20))
    drawn.launch(1, 2, kernel=(20, 70), tid=2)  # another thread's work, outside any step
    drawn.launch(60, 65, kernel=(80, 100))
    step = step_of(drawn)
    assert causes(step) == {"lead_in": 10, "device": 10}
    assert (step.busy_ns, step.kernels, step.launches) == (80, 2, 2)


def test_overlapping_streams_count_once(drawn, step_of):
    drawn.launch(0, 2, kernel=(10, 60))
    drawn.launch(3, 5, kernel=(30, 100), stream=8)
    assert step_of(drawn).busy_ns == 90


def test_idle_of_kernels_only_leaves_copies_and_memsets_out(drawn, step_of):
    drawn.launch(0, 2, kernel=(10, 60))
    drawn.copy(3, 5, gpu=(60, 80))
    drawn.memset(6, 8, gpu=(80, 90))
    step = step_of(drawn)
    assert (step.idle, step.idle_kernels_only) == (pytest.approx(0.2), pytest.approx(0.5))
    assert (step.memcpys, step.memsets, step.submissions) == (1, 1, 3)


def test_the_projected_window_runs_from_first_to_last_own_operation(drawn, step_of):
    drawn.launch(0, 2, kernel=(20, 40))
    drawn.launch(3, 5, kernel=(50, 70))
    step = step_of(drawn)
    assert step.projected_ns == 50
    assert step.idle_projected == pytest.approx(0.2)


def test_a_gap_inside_a_graph_launch_is_the_devices(drawn, step_of):
    drawn.graph(0, 30, nodes=[(40, 50), (55, 70), (72, 100)])
    step = step_of(drawn)
    assert causes(step) == {"lead_in": 40, "device": 7}
    assert (step.graph_launches, step.kernels, step.graph_tracing) == (1, 3, "node")


def test_times_before_the_recordings_zero_count_as_any(step_of):
    trace = TraceBuilder()
    trace.range("prefill#0", -100, 0)
    trace.launch(-90, -85, kernel=(-80, -40))
    trace.launch(-30, -25, kernel=(-20, 0))
    assert causes(step_of(trace)) == {"lead_in": 20, "host": 10, "launch": 10}


def test_kernels_of_no_duration_leave_figures_defined(drawn, step_of):
    drawn.launch(10, 15, kernel=(30, 30))
    step = step_of(drawn)
    assert (step.busy_ns, step.kernels, step.idle, step.idle_projected) == (0, 1, 1.0, None)


def test_kinds_of_gaps_and_of_waits_are_all_causes_of_the_catalogue():
    kinds = [kind.cause for kind in GapKind if kind is not GapKind.WAITING]
    assert sorted([*kinds, *(wait.cause for wait in Wait)]) == sorted(gap_causes())


def test_only_the_steps_own_thread_waits_in_it(step_of):
    trace = TraceBuilder()
    trace.sync(0, 45, tid=1)
    trace.range("prefill#0", 0, 100, tid=2)
    trace.launch(10, 15, tid=2, kernel=(20, 30))
    trace.launch(50, 55, tid=2, kernel=(60, 100))  # idle 30-60: host 30-50, launch 50-60
    trace.sync(0, 48, tid=3)
    assert causes(step_of(trace)) == {"lead_in": 20, "host": 20, "launch": 10}
