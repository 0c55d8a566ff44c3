"""What reports say of how steps ran, of the time between them, and of ranges."""

from __future__ import annotations

from pathlib import Path

import pytest
from build_trace import TraceBuilder

from launchlens.metrics import summarize
from launchlens.render import write
from launchlens.report.analysis import analysis_document
from launchlens.trace import read_trace

TRACES = Path(__file__).parents[2] / "traces"


def step(trace, at, text, *, graphs=0, kernels=1):
    trace.range(text, at, at + 100)
    for i in range(graphs):
        trace.graph(at + 2 * i, at + 2 * i + 1, nodes=[(at + 2 * i + 1, at + 2 * i + 2)])
    for i in range(kernels):
        trace.launch(at + 40 + 2 * i, at + 41 + 2 * i, kernel=(at + 41 + 2 * i, at + 42 + 2 * i))


@pytest.fixture
def answers(tmp_path):
    def said(trace):
        analysis = summarize(read_trace(trace.write(tmp_path / "t.sqlite")))
        return analysis_document(analysis).answers[1:]

    return said


def test_prefill_that_was_never_captured_is_a_headline(answers):
    trace = TraceBuilder()
    step(trace, 0, "prefill#0")
    step(trace, 200, "prefill#1")
    step(trace, 400, "decode#0", graphs=1)
    assert answers(trace) == (
        "prefill was never captured: all 2 steps ran eagerly, while decode ran as one graph "
        "(1 of 1 steps).",
    )


def test_no_headline_where_only_some_prefill_steps_ran_eagerly(answers):
    trace = TraceBuilder()
    step(trace, 0, "prefill#0")
    step(trace, 200, "prefill#1", graphs=3)
    step(trace, 400, "decode#0", graphs=1)
    assert answers(trace) == (
        "Replay of CUDA graphs: prefill ran in pieces in 1 of 2 steps, eagerly in 1 of 2 steps; "
        "decode ran as one graph (1 of 1 steps).",
    )


def test_steps_of_one_phase_need_no_sentence(answers):
    trace = TraceBuilder()
    step(trace, 0, "prefill#0")
    assert answers(trace) == ()


def test_vllm_eager_and_in_pieces():
    said = [
        analysis_document(summarize(read_trace(TRACES / f"{name}.sqlite.xz"))).answers[1]
        for name in (
            "vllm024-qwen3-0.6b-eager.nsys2025.3",
            "vllm024-qwen3-0.6b-piecewise.node.nsys2025.3",
        )
    ]
    assert said == [
        "No step replayed a CUDA graph: 8 prefill and 32 decode steps ran eagerly.",
        "Replay of CUDA graphs: prefill ran in pieces (8 of 8 steps); decode ran as one graph (32 "
        "of 32 steps).",
    ]


def test_tables_are_details(tmp_path):
    trace = TraceBuilder()
    step(trace, 0, "execute_context_1(25)_generation_0(0)")
    trace.range("model", 10, 90)
    trace.range("attention", 20, 80)
    step(trace, 200, "execute_context_0(0)_generation_1(1)", graphs=1)
    analysis = summarize(read_trace(trace.write(tmp_path / "t.sqlite")))
    document = analysis_document(analysis)
    brief, whole = (write(document, "terminal", verbose=verbose) for verbose in (False, True))
    for shown in ("replay of steps", "after a prefill step", "· attention"):
        assert shown not in brief
        assert shown in whole
    assert "17-32" in whole
