"""What if calls were gone or the CPU faster: made-up steps with known answers, and shipped ones."""

from __future__ import annotations

import pytest
from build_trace import TraceBuilder
from step_graphs import graphs_of, shipped

from launchlens.errors import UsageError
from launchlens.forecast.simulate import simulate
from launchlens.forecast.what_if import saved_without, without_rows
from launchlens.workflow.blockers import find_blockers_of
from launchlens.workflow.forecasting import Wanted, forecast_trace
from launchlens.workflow.load import Choices, load

ASKED = "gemma-3n-e4b-eager"


@pytest.fixture
def waiting(tmp_path):
    """A made-up step: 200 µs on the GPU, a copy and a wait for it, then 100 µs more of launches."""
    builder = TraceBuilder()
    builder.range("decode#0", 0, 400_000)
    builder.launch(0, 5_000, kernel=(10_000, 210_000))
    builder.copy(10_000, 15_000, gpu=(212_000, 213_000))
    builder.sync(16_000, 220_000)
    for at in range(230_000, 330_000, 10_000):
        builder.launch(at, at + 5_000, kernel=(at + 6_000, at + 9_000))
    loaded = load(builder.write(tmp_path / "made-up.sqlite"), Choices())
    return graphs_of(loaded)[0][1]


def test_a_copy_takes_its_wait_with_it(waiting):
    gone = without_rows(waiting, waiting.row[1:2])
    run = simulate(gone)
    # Without the wait the launches follow at once: the first one 10 µs after where it began.
    assert run.call_start_ns[3] == 21_000
    assert run.op_start_ns.size == waiting.operations - 1
    # The thread is 209 µs ahead, so the GPU's work decides: ten kernels of 3 µs behind the first
    # one, 950 ns before each. All of it would have ended at 249.5 µs in place of 400.
    assert saved_without([waiting], waiting.row[1:2]) == 400_000 - (210_000 + 10 * 3_950)


def test_what_holds_nothing_up_saves_only_its_own_time(waiting):
    last = waiting.row[-1:]
    assert saved_without([waiting], last) == 5_000
    assert saved_without([waiting], last + 1_000) is None


def test_findings_say_what_they_save_and_the_dearest_come_first():
    found = find_blockers_of(shipped(ASKED)).findings
    likely = [f.saved_ns for f in found if f.confidence == "likely"]
    assert likely == sorted(likely, reverse=True)
    assert all(ns is not None and ns > 0 for ns in likely)
    # A launch-bound step: what a wait saves is hardly more than the thread's time in it, though
    # the GPU idles much longer around it.
    for f in found:
        assert f.saved_ns <= 1.2 * f.host_ns


def test_options_become_forecasts_of_their_own():
    made = forecast_trace(shipped(ASKED), Wanted(without=("pageable-htod",), idle_host=0.5))
    asked = {f.variant: f for f in made.forecasts if f.asked}
    assert set(asked) == {"without pageable-htod", "with 0.5 of the CPU's time"}
    base = made.untraced[0].step_ns
    assert asked["without pageable-htod"].verdict == "little"
    assert 0 < asked["without pageable-htod"].saved_ns < 1_000_000
    assert asked["with 0.5 of the CPU's time"].step_ns == pytest.approx(base / 2, rel=0.02)


def test_a_cpu_that_takes_no_time_leaves_the_gpus_work():
    made = forecast_trace(shipped("profile-qwen3-0.6b-eager.node"), Wanted(idle_host=0.0))
    free = next(f for f in made.forecasts if f.asked)
    # Launched in time, each of 1600 operations waits about 1 µs for the one before it.
    assert free.busy_ns < free.step_ns < free.busy_ns + 1_600 * 1_500


def test_questions_about_what_is_not_there_are_refused():
    loaded = shipped("profile-qwen3-0.6b-eager.node")
    with pytest.raises(UsageError, match="no rule 'nosuch'"):
        forecast_trace(loaded, Wanted(without=("nosuch",)))
    with pytest.raises(UsageError, match="finds no calls"):
        forecast_trace(loaded, Wanted(without=("alloc",)))
    with pytest.raises(UsageError, match="matches no range"):
        forecast_trace(loaded, Wanted(idle_host=0.5, within="nosuch"))


def test_only_the_named_ranges_are_faster(tmp_path):
    """A made-up step with two halves of 100 µs; the CPU is free in the first."""
    builder = TraceBuilder()
    builder.range("decode#0", 0, 200_000)
    builder.range("module:first", 1, 99_999)
    for at in range(0, 200_000, 10_000):
        builder.launch(at + 5_000, at + 10_000, kernel=(at + 11_000, at + 12_000))
    loaded = load(builder.write(tmp_path / "made-up.sqlite"), Choices())
    known = Wanted(idle_host=0.0, within="first", given={None: 0.2})
    made = forecast_trace(loaded, known)
    asked = next(f for f in made.forecasts if f.asked)
    assert asked.step_ns == pytest.approx(100_000, rel=0.1)


def test_ranges_are_ranked_by_what_they_save(tmp_path):
    """A made-up step: in layers the CPU works for 40 µs, in the head for 60 while the GPU is busy.

    A kernel of 100 µs runs while the CPU works for the head: a faster one saves nothing there.
    """
    builder = TraceBuilder()
    builder.range("decode#0", 0, 150_000)
    for layer in (0, 1):
        begin = 1_000 + 20_000 * layer
        builder.range(f"module:layers.{layer}", begin, begin + 19_000)
        builder.launch(begin + 15_000, begin + 18_000, kernel=(begin + 19_000, begin + 20_000))
    builder.launch(42_000, 45_000, kernel=(48_000, 148_000))
    builder.range("module:head", 46_000, 110_000)
    for at in (60_000, 80_000, 100_000):
        builder.call("cudaEventQuery_v3020", at, at + 3_000)
    builder.launch(112_000, 115_000, kernel=(148_950, 149_950))
    made = forecast_trace(load(builder.write(tmp_path / "made-up.sqlite"), Choices()))
    first, second = made.ranges
    assert (first.range, second.range) == ("module:layers.#", "module:head")
    assert first.saved_ns > 20_000
    assert second.host_ns > first.host_ns * 0.8
    assert second.saved_ns < 5_000
