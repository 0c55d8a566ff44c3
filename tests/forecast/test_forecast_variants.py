"""Forecasts of steps whose costs are known: what a graph, a break, a missing launch must bring."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from step_graphs import eager, graphs_of, shipped

from launchlens.forecast import KnownTime, TracedStep, forecast_phase
from launchlens.forecast.changes import calls_of_ops
from launchlens.forecast.constants import COSTS, Constant, choose
from launchlens.forecast.constants import shipped as shipped_constants
from launchlens.workflow.forecasting import Wanted, forecast_trace
from launchlens.workflow.load import Choices, load

GAP, REPLAY, LATENCY = 400, 10_000, 6_000
KNOWN = replace(
    choose("NVIDIA H200", "nsys"),
    **{
        **{name: Constant(0, 0) for name in COSTS},
        "node_gap_ns": Constant(GAP, 0),
        "replay_ns": Constant(REPLAY, 0),
        "delay_ns": Constant(950, 0),
        "enter_graph_ns": Constant(2_000, 0),
        "leave_graph_ns": Constant(3_000, 0),
    },
)
"""Costs made up for these tests."""


def traced(graph, breaks=(), outside=()):
    names = ["gemm"] * graph.operations
    marked = np.ones(graph.calls, bool)
    masks = (calls_of_ops(graph, ops) for ops in (breaks, outside))
    return TracedStep(graph, names, *masks, marked)


def forecasts(path: Path, *, breaks=(), constants=KNOWN, known=None, **more):
    graph = graphs_of(load(path, Choices()))[0][1]
    step = traced(graph, breaks)
    made = forecast_phase("decode", [step], constants, known, **more)
    return made, {f.variant: f for f in made.forecasts}


def test_one_graph_takes_its_kernels_and_a_gap_before_each_but_the_first(tmp_path):
    _, found = forecasts(eager(tmp_path, launches=200, kernel_ns=2_500))
    assert found["cudagraph"].step_ns == REPLAY + LATENCY + 200 * 2_500 + 199 * GAP
    assert (found["cudagraph"].launches, found["cudagraph"].graph_launches) == (1, 1)
    assert found["cudagraph"].operations == 200


def test_a_broken_graph_pays_for_each_break(tmp_path):
    """Kernels 50 and 100 of 150 stay: three graphs, two eager kernels with a copy behind each."""
    _, found = forecasts(eager(tmp_path, launches=150, kernel_ns=20_000), breaks=(50, 100))
    broken = found["breakable"]
    assert (broken.graph_launches, broken.launches) == (3, 5)
    inside = (49 + 48 + 48) * GAP
    breaks = 2 * (3_000 + 2_000) + 2 * (1_000 + 950)
    assert broken.step_ns == REPLAY + LATENCY + 150 * 20_000 + inside + breaks


def test_a_step_that_nothing_breaks_has_no_broken_graph(tmp_path):
    _, found = forecasts(eager(tmp_path))
    assert "breakable" not in found


def test_without_launches_there_is_nothing_to_gain(tmp_path):
    """One kernel that takes the whole step: a graph brings little, and is said to."""
    path = eager(tmp_path, launches=1, kernel_ns=10_000_000)
    known = KnownTime(10_006_000, 10_006_000, 10_006_000, "given")
    _, found = forecasts(path, known=known)
    assert found["cudagraph"].step_ns == pytest.approx(10_006_000, rel=0.002)
    assert found["cudagraph"].verdict == "little"


@given(
    launches=st.integers(2, 60),
    kernel_ns=st.integers(1, 40_000),
    every_ns=st.integers(5_000, 60_000),
)
@settings(max_examples=30, deadline=None)
def test_bounds_that_hold_for_every_step(tmp_path_factory, launches, kernel_ns, every_ns):
    folder = tmp_path_factory.mktemp("made-up")
    path = eager(folder, launches=launches, kernel_ns=kernel_ns, every_ns=every_ns, steps=1)
    made, found = forecasts(path)
    graph = found["cudagraph"]
    assert graph.step_ns >= launches * kernel_ns, "no graph is faster than its kernels"
    overhead = REPLAY + LATENCY + launches * GAP
    assert graph.step_ns <= launches * kernel_ns + overhead, "busy none: bounded by launch costs"
    assert graph.low_ns <= graph.step_ns <= graph.high_ns
    assert graph.speedup_low <= graph.speedup <= graph.speedup_high
    assert found["halved"].step_ns <= made.untraced.step_ns + 1
    dearer = replace(KNOWN, node_gap_ns=Constant(2 * GAP, 0))
    _, again = forecasts(path, constants=dearer)
    assert again["cudagraph"].step_ns == graph.step_ns + (launches - 1) * GAP


@given(st.floats(0.1, 5.0))
@settings(max_examples=15, deadline=None)
def test_what_the_step_takes_untraced_changes_no_captured_time(factor):
    graph = qwen_step()
    step = traced(graph)
    untraced = round(26_500_000 * factor)
    known = KnownTime(untraced, untraced, untraced, "given")
    made = forecast_phase("prefill", [step], KNOWN, known, only="cudagraph")
    (one,) = made.forecasts
    assert made.untraced.step_ns == untraced
    assert one.step_ns == qwen_captured()
    assert math.isclose(one.speedup, untraced / one.step_ns)


@cache
def qwen_step():
    return graphs_of(shipped("profile-qwen3-0.6b-eager.node"))[3][1]


@cache
def qwen_captured():
    graph = qwen_step()
    step = traced(graph)
    return forecast_phase("prefill", [step], KNOWN, None, only="cudagraph").forecasts[0].step_ns


def test_what_an_engine_does_outside_of_the_forward_pass_stays(tmp_path):
    """Ten launches in front stay as they are: 100 µs; the graph holds the other ninety."""
    graph = graphs_of(load(eager(tmp_path, launches=100, kernel_ns=2_000), Choices()))[0][1]
    step = traced(graph, outside=range(10))
    made = forecast_phase("decode", [step], KNOWN, None, only="cudagraph")
    (one,) = made.forecasts
    assert (one.launches, one.graph_launches) == (11, 1)
    assert one.step_ns == pytest.approx(94_000 + 90 * 2_000 + 89 * GAP + LATENCY, rel=0.03)


def test_a_range_that_holds_more_than_is_captured_gives_no_speed_up():
    made = forecast_trace(shipped("vllm024-qwen3-0.6b-eager"))
    graph = made.forecasts[0]
    assert (graph.part, graph.speedup, graph.saved_ns) == (True, None, None)
    assert graph.verdict == "unknown"
    assert any("forward pass alone" in note for note in made.notes)


def test_constants_of_another_gpu_are_said_and_widen(tmp_path):
    own = forecast_trace(load(eager(tmp_path), Choices()))
    other = tmp_path / "other"
    other.mkdir()
    foreign = forecast_trace(load(eager(other, gpu="NVIDIA A100"), Choices()))
    assert (own.constants.foreign, foreign.constants.foreign) == (False, True)
    assert any("NVIDIA A100" in note for note in foreign.notes)
    a, b = own.forecasts[0], foreign.forecasts[0]
    assert (a.variant, a.step_ns) == (b.variant, b.step_ns)
    assert b.high_ns - b.low_ns > 2 * (a.high_ns - a.low_ns)


def test_captured_steps_and_whole_traces_are_refused_with_the_reason():
    captured = forecast_trace(shipped("profile-qwen3-0.6b-cudagraph.node"))
    assert captured.forecasts == ()
    assert captured.untraced_ns is None
    assert "starts from an eager trace" in captured.unanswered[0]


def test_every_shipped_file_of_constants_can_be_read():
    assert "NVIDIA H200" in {c.gpu for c in shipped_constants()}


def test_break_at_names_kernels_or_ranges():
    loaded = shipped("profile-qwen3-0.6b-eager.node")
    at_matmuls = forecast_trace(loaded, Wanted(break_at="nvjet"))
    found = {f.variant: f for f in at_matmuls.forecasts}
    default = {f.variant: f for f in forecast_trace(loaded).forecasts}
    assert found["breakable"].launches > default["breakable"].launches
    assert found["cudagraph"] == default["cudagraph"]
