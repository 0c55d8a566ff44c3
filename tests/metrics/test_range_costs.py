"""Ranges inside steps on traces drawn by hand: nesting, own figures, names."""

from __future__ import annotations

import pytest
from build_trace import START_END, TraceBuilder

from launchlens.metrics import summarize
from launchlens.trace import read_trace


@pytest.fixture
def ranges(tmp_path):
    return lambda trace: summarize(read_trace(trace.write(tmp_path / "t.sqlite"))).ranges


@pytest.fixture
def drawn():
    """One step of 100 ns: preparation until 30, then the model with attention inside of it."""
    trace = TraceBuilder()
    trace.range("prefill#0", 0, 100)
    trace.range("prepare", 0, 30)
    trace.range("model", 30, 90)
    trace.range("attention", 40, 60)
    trace.launch(10, 12, kernel=(20, 30))
    trace.launch(42, 44, kernel=(50, 60))
    trace.launch(62, 64, kernel=(70, 80))
    trace.launch(92, 94, kernel=(95, 100))
    return trace


def test_host_time_launches_and_idle_time_with_and_without_what_is_within(drawn, ranges):
    model, attention, prepare = ranges(drawn)
    assert [one.path for one in (model, attention, prepare)] == [
        ("model",),
        ("model", "attention"),
        ("prepare",),
    ]
    assert (model.host_ns, model.own_host_ns) == (60, 40)
    assert (model.launches, model.own_launches) == (2, 1)
    assert (model.idle_ns, model.own_idle_ns) == (40, 30)  # idle 30-50, 60-70, 80-90
    assert (attention.host_ns, attention.launches, attention.idle_ns) == (20, 1, 10)
    assert (attention.own_host_ns, attention.own_idle_ns) == (20, 10)
    assert (prepare.host_ns, prepare.launches, prepare.idle_ns) == (30, 1, 20)


def test_ranges_of_a_step_add_up_and_absent_ones_count_as_nothing(drawn, ranges):
    drawn.range("prefill#1", 200, 300)
    drawn.range("prepare", 200, 210)
    drawn.range("prepare", 210, 230)
    drawn.launch(240, 242, kernel=(250, 260))
    found = {one.name: one for one in ranges(drawn)}
    assert (found["prepare"].count, found["prepare"].host_ns) == (1.5, 30)
    assert (found["model"].count, found["model"].host_ns) == (0.5, 30)


def test_layers_are_taken_together(drawn, ranges):
    for layer, at in enumerate((62, 72)):
        drawn.range(f"{{'Module': 'model.layers.{layer}.mlp', 'Inputs': [[25, 1024]]}}", at, at + 5)
    (mlp,) = (one for one in ranges(drawn) if one.name.endswith("mlp"))
    assert mlp.path == ("model", "model.layers.*.mlp")
    assert (mlp.count, mlp.host_ns) == (2, 10)


def test_a_number_that_is_always_the_same_is_kept(drawn, ranges):
    drawn.range("rank 3", 91, 95)
    assert "rank 3" in [one.name for one in ranges(drawn)]


def test_other_threads_and_ranges_that_outlast_the_step_are_not_inside(drawn, ranges):
    drawn.range("elsewhere", 10, 20, tid=2)
    drawn.range("around", 95, 120, event=START_END)
    names = {one.name for one in ranges(drawn)}
    assert names == {"prepare", "model", "attention"}


def test_what_the_recorder_writes_is_left_out(drawn, ranges):
    drawn.domain(5, "Python Backtrace on CUDA")
    drawn.range("frames", 10, 20, domain=5)
    drawn.domain(6, "NCCL")
    drawn.range("ncclAllReduce", 12, 16, domain=6)
    found = {one.name: one.domain for one in ranges(drawn)}
    assert "frames" not in found
    assert found["ncclAllReduce"] == "NCCL"


def test_ranges_that_overlap_share_no_instant(drawn, ranges):
    """Start/end ranges need not lie within one another: the one that began last has the time."""
    drawn.range("copying", 50, 80, event=START_END)
    found = {one.name: one for one in ranges(drawn)}
    assert found["copying"].path == ("model", "copying")
    assert (found["attention"].own_host_ns, found["copying"].own_host_ns) == (10, 30)
    assert found["model"].own_host_ns == 60 - 10 - 30


def test_idle_time_is_unknown_where_the_steps_is(drawn, ranges):
    drawn.graph(65, 66)
    model, *_ = ranges(drawn)
    assert (model.launches, model.idle_ns, model.own_idle_ns) == (3, None, None)
