"""How steps ran, counted on drawn traces and on vLLM's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from build_trace import TraceBuilder

from launchlens.metrics import summarize
from launchlens.metrics.replay_state import replay_states
from launchlens.trace import read_trace

TRACES = Path(__file__).parents[2] / "traces"


@pytest.fixture
def analyzed(tmp_path):
    return lambda trace: summarize(read_trace(trace.write(tmp_path / "t.sqlite")))


def step(trace, at, text, *, graphs=0, kernels=0):
    """A step of 100 ns with as many graph launches, then kernel launches, as asked for."""
    trace.range(text, at, at + 100)
    for i in range(graphs):
        trace.graph(at + 2 * i, at + 2 * i + 1, nodes=[(at + 2 * i + 1, at + 2 * i + 2)])
    for i in range(kernels):
        begin = at + 40 + 2 * i
        trace.launch(begin, begin + 1, kernel=(begin + 1, begin + 2))


def counts(state):
    return (state.steps, state.one_graph, state.pieces, state.eager)


def test_each_phase_and_bucket_of_tokens_on_its_own(analyzed):
    trace = TraceBuilder()
    step(trace, 0, "execute_context_1(25)_generation_0(0)", graphs=3, kernels=2)
    step(trace, 200, "execute_context_1(30)_generation_0(0)", kernels=9)
    step(trace, 400, "execute_context_1(33)_generation_0(0)", kernels=9)
    step(trace, 600, "execute_context_0(0)_generation_1(1)", graphs=1, kernels=4)
    small, large, decode = analyzed(trace).replays
    assert (small.phase, small.tokens_from, small.tokens_to) == ("prefill", 17, 32)
    assert counts(small) == (2, 0, 1, 1)
    assert small.launches_beside == 5.5
    assert (large.tokens_from, large.tokens_to, counts(large)) == (33, 64, (1, 0, 0, 1))
    assert (decode.phase, decode.tokens_to, counts(decode)) == ("decode", 1, (1, 1, 0, 0))


def test_padding_is_of_replayed_steps_and_of_the_sizes_that_were_captured(analyzed):
    trace = TraceBuilder()
    step(trace, 0, "execute_context_1(25)_generation_0(0)", graphs=2)
    step(trace, 200, "execute_context_1(17)_generation_0(0)", graphs=2)
    step(trace, 400, "execute_context_1(40)_generation_0(0)", kernels=2)
    analysis = analyzed(trace)
    captured, beyond = replay_states(analysis.steps, {"prefill": [16, 32]})
    assert (captured.tokens_from, captured.tokens_to) == (17, 32)
    assert captured.padding == pytest.approx((32 + 32) / (25 + 17))
    assert (beyond.tokens_from, beyond.tokens_to, beyond.padding) == (33, 64, None)
    assert all(state.padding is None for state in analysis.replays), "no sizes are known"


def test_a_replay_of_more_tokens_than_any_captured_size_has_no_padding_that_is_known(analyzed):
    trace = TraceBuilder()
    step(trace, 0, "execute_context_1(40)_generation_0(0)", graphs=1)
    (state,) = replay_states(analyzed(trace).steps, {"prefill": [16, 32]})
    assert (state.one_graph, state.padding) == (1, None)


def test_a_step_under_capture_is_not_called_eager(analyzed):
    trace = TraceBuilder()
    trace.range("decode#0", 0, 100)
    trace.call("cudaStreamBeginCapture_v10000", 1, 2)
    trace.launch(3, 4)
    trace.call("cudaStreamEndCapture_v10000", 5, 6)
    step(trace, 200, "decode#1", graphs=1)
    (state,) = analyzed(trace).replays
    assert (state.capturing, state.one_graph, state.eager) == (1, 1, 0)


def test_calls_without_a_name_may_be_graph_launches(analyzed):
    trace = TraceBuilder()
    step(trace, 0, "decode#0", kernels=2)
    trace.call("", 90, 91)
    (state,) = analyzed(trace).replays
    assert (state.unknown, state.eager) == (1, 0)


@pytest.mark.parametrize(
    ("name", "prefill", "decode"),
    [
        ("vllm024-qwen3-0.6b-eager.nsys2025.3", (8, 0, 0, 8), (32, 0, 0, 32)),
        ("vllm024-qwen3-0.6b-piecewise.node.nsys2025.3", (8, 0, 8, 0), (32, 32, 0, 0)),
    ],
)
def test_vllm(name, prefill, decode):
    """The modes as their engines were set, on the cards: eager, and FULL_AND_PIECEWISE."""
    analysis = summarize(read_trace(TRACES / f"{name}.sqlite.xz"))
    first, second = analysis.replays
    assert (first.phase, first.tokens_from, first.tokens_to) == ("prefill", 17, 32)
    assert (counts(first), counts(second)) == (prefill, decode)
    sizes = dict.fromkeys(("prefill", "decode"), (1, 2, 4, 8, 16, 32))
    padded = {s.phase: s.padding for s in replay_states(analysis.steps, sizes)}
    pieces = "piecewise" in name
    assert padded["prefill"] == (pytest.approx(32 / 25) if pieces else None)
    assert padded["decode"] == (1 if pieces else None)
