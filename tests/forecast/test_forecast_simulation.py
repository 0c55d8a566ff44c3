"""A step's graph of dependencies: unchanged it takes what the step took; changed, what it must."""

from __future__ import annotations

import numpy as np
import pytest
from build_trace import TraceBuilder
from step_graphs import TRACES, eager, graphs_of, shipped

from launchlens.forecast.changes import (
    halve_launches,
    scale_host,
    segments_between,
    taking,
    without_calls,
    without_tracing,
)
from launchlens.forecast.simulate import simulate
from launchlens.workflow.load import Choices, load

NAMES = sorted(p.name.partition(".nsys")[0] for p in TRACES.glob("*.sqlite.xz"))


@pytest.mark.parametrize("name", NAMES)
def test_an_unchanged_step_takes_exactly_what_it_took(name):
    loaded = shipped(name)
    for step, graph in graphs_of(loaded):
        run = simulate(graph)
        assert run.window_ns == step.window_ns
        ops = loaded.trace.ops
        assert (run.op_start_ns + step.start_ns).tolist() == ops.start_ns[graph.op_row].tolist()
        ends = loaded.trace.api.end_ns[graph.row]
        assert (run.call_end_ns + step.start_ns).tolist() == ends.tolist()


def drawn(tmp_path, calls):
    """The graph of one step from 0 to 1000 µs, whose calls a function adds to a builder."""
    builder = TraceBuilder()
    builder.range("decode#0", 0, 1_000_000)
    calls(builder)
    path = builder.write(tmp_path / "drawn.sqlite")
    return graphs_of(load(path, Choices()))[0][1]


def test_a_wait_that_is_taken_away_saves_what_it_held_up(tmp_path):
    """A kernel of 500 µs, a wait for it, then 100 µs of host work and a second kernel."""

    def calls(builder):
        builder.launch(10_000, 15_000, kernel=(20_000, 520_000))
        builder.sync(20_000, 530_000)
        builder.launch(630_000, 635_000, kernel=(640_000, 990_000))

    graph = drawn(tmp_path, calls)
    assert simulate(graph).window_ns == 1_000_000
    gone = without_calls(graph, np.array([False, True, False]))
    run = simulate(gone)
    # The second launch follows the first by its 5 µs, the 5 µs to where the wait began, and the
    # 100 µs after it; its kernel stands behind the first one.
    assert run.call_start_ns.tolist() == [10_000, 20_000, 120_000]
    assert run.op_start_ns.tolist() == [20_000, 520_000 + 950]
    # The range ends 365 µs after the last call, as it did; the GPU is done after that.
    assert run.window_ns == 520_000 + 950 + 350_000


def test_a_copy_back_that_holds_up_the_host_waits_for_the_gpu_when_the_host_is_faster(tmp_path):
    def calls(builder):
        builder.launch(100_000, 105_000, kernel=(110_000, 400_000))
        builder.copy(105_000, 420_000, gpu=(402_000, 404_000), copy_kind=2)
        builder.launch(500_000, 505_000, kernel=(510_000, 520_000))

    graph = drawn(tmp_path, calls)
    fast = simulate(scale_host(graph, np.ones(3, bool), 0.0))
    assert fast.call_start_ns[0] == 0
    assert fast.op_end_ns[0] == 10_000 + 290_000
    # The copy comes 2 µs behind the kernel, or less; the call returns 16 µs after it, as it did.
    assert fast.op_start_ns[1] in range(300_000, 302_001)
    assert fast.call_end_ns[1] == fast.op_end_ns[1] + 16_000


def test_an_operation_behind_a_stream_wait_stays_behind_the_other_stream(tmp_path):
    def calls(builder):
        builder.launch(10_000, 15_000, kernel=(20_000, 300_000), stream=7)
        builder.call("cudaStreamWaitEvent_v3020", 20_000, 21_000)
        builder.launch(30_000, 35_000, kernel=(301_000, 310_000), stream=8)

    graph = drawn(tmp_path, calls)
    assert graph.beside.tolist() == [-1, 0]
    short = simulate(scale_host(graph, np.ones(3, bool), 0.0))
    assert short.op_start_ns[1] >= short.op_end_ns[0]


def test_the_hosts_work_shrinks_to_what_the_step_takes_without_tracing():
    _, graph = graphs_of(shipped("profile-qwen3-0.6b-eager.node"))[3]
    for wanted in (20_000_000, 9_000_000, 40_000_000):
        assert simulate(taking(graph, wanted)).window_ns == pytest.approx(wanted, rel=1e-3)
    untraced = simulate(without_tracing(graph, 2_800)).window_ns
    assert untraced < simulate(graph).window_ns


def test_fused_launches_keep_the_gpus_work(tmp_path):
    _, graph = graphs_of(load(eager(tmp_path), Choices()))[0]
    half = halve_launches(graph)
    assert half.launches.sum() == 50
    assert half.op_ns.sum() == graph.op_ns.sum()
    # 100 launches of 10 µs each: half of them are gone, with the time that led to them.
    assert simulate(half).window_ns == pytest.approx(500_000, abs=20_000)


def test_a_step_falls_into_graphs_between_calls_that_stay():
    stays = np.array([0, 0, 0, 1, 1, 0, 0, 1, 0], bool)
    works = np.array([0, 1, 1, 0, 1, 0, 1, 1, 0], bool)
    assert segments_between(stays, works).tolist() == [0, 0, 0, -1, -1, 1, 1, -1, -1]
