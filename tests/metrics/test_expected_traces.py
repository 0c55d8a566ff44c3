"""Every figure of every step of the shipped traces, as traces/expected.json states it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from launchlens.metrics import summarize
from launchlens.trace import read_trace

TRACES = Path(__file__).parents[2] / "traces"
EXPECTED = json.loads((TRACES / "expected.json").read_text())
FRACTIONS = ("idle", "idle_kernels_only", "idle_projected")


@pytest.fixture(scope="module", params=sorted(EXPECTED))
def measured(request):
    """Steps of one trace as a list of plain objects, and what they should be."""
    analysis = summarize(read_trace(TRACES / request.param))
    return json.loads(json.dumps([asdict(s) for s in analysis.steps])), EXPECTED[request.param]


def test_every_step_is_found_in_order(measured):
    steps, expected = measured
    assert [s["range"] for s in steps] == [e["range"] for e in expected]


def test_counts_and_times_are_exact(measured):
    steps, expected = measured
    for step, stated in zip(steps, expected, strict=True):
        exact = {k: v for k, v in stated.items() if k not in FRACTIONS}
        assert {k: step[k] for k in exact} == exact


def test_fractions_agree_to_a_millionth(measured):
    steps, expected = measured
    for step, stated in zip(steps, expected, strict=True):
        for name in FRACTIONS:
            if stated[name] is None:
                assert step[name] is None
            else:
                assert step[name] == pytest.approx(stated[name], abs=1e-6)


def test_derived_figures_follow_from_the_stated_ones(measured):
    steps, expected = measured
    for step, stated in zip(steps, expected, strict=True):
        assert step["launches"] == stated["kernel_launches"] + stated["graph_launches"]
        assert step["submissions"] == (
            step["launches"] + stated["memcpy_calls"] + stated["memset_calls"]
        )
        if stated.get("gaps_ns", ...) is None:
            assert step["unknown_reason"]
            continue
        assert sum(step["gaps_ns"].values()) == step["window_ns"] - step["busy_ns"]
        assert step["lead_in_ns"] >= step["gaps_ns"]["lead_in"]
        assert step["end_ns"] - step["start_ns"] == stated["cpu_ns"]


def test_every_stated_trace_is_shipped():
    """What is shipped beyond these is held to its card's SQL (tests/test_cards.py)."""
    assert set(EXPECTED) <= {p.name for p in TRACES.iterdir()}
