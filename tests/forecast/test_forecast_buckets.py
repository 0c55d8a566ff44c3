"""Which sizes to capture: the choice is that of trying all (every number here is made up)."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from launchlens.errors import LaunchlensError
from launchlens.forecast.buckets import Curves, Limits, Point, choose, cost_of
from launchlens.forecast.capture_options import capture_options

CURVES = Curves(
    [
        Point(1, 5e6, 30e6, 10e6, 0.2e9),
        Point(8, 5.5e6, 30e6, 12e6, 0.2e9),
        Point(64, 9e6, 31e6, 30e6, 0.3e9),
        Point(256, 25e6, 36e6, 90e6, 0.5e9),
    ]
)


def total_ns(buckets, counts):
    """All steps' time, as an engine runs them: the plain definition."""
    total = 0.0
    for size, count in counts.items():
        above = [b for b in buckets if b >= size]
        at = CURVES.at(min(above)).captured_ns if above else CURVES.at(size).eager_ns
        total += count * at
    return total


def allowed(buckets, limits):
    points = [CURVES.at(b) for b in buckets]
    return (
        (limits.most is None or len(points) <= limits.most)
        and (
            limits.memory_bytes is None
            or sum(p.memory_bytes for p in points) <= limits.memory_bytes
        )
        and (limits.capture_ns is None or sum(p.capture_ns for p in points) <= limits.capture_ns)
    )


@given(
    counts=st.dictionaries(st.integers(1, 256), st.integers(1, 50), min_size=1, max_size=7),
    most=st.none() | st.integers(0, 5),
    memory=st.none() | st.floats(0, 300e6),
    capture=st.none() | st.floats(0, 2e9),
)
@settings(max_examples=120, deadline=None)
def test_no_other_choice_is_better(counts, most, memory, capture):
    limits = Limits(most, memory, capture)
    found = choose(counts, CURVES, limits)
    every = [c for n in range(len(counts) + 1) for c in combinations(sorted(counts), n)]
    best = min(total_ns(c, counts) for c in every if allowed(c, limits))
    assert found.step_ns == pytest.approx(best)
    assert allowed(found.sizes, limits)
    assert total_ns(found.sizes, counts) == pytest.approx(best)
    again = cost_of(found.sizes, counts, CURVES)
    assert (again.step_ns, again.memory_bytes) == pytest.approx((best, found.memory_bytes))


def test_without_limits_every_size_gets_its_own():
    assert choose({3: 1, 17: 2, 100: 1}, CURVES, Limits()).sizes == (3, 17, 100)


def test_a_graph_that_is_no_faster_is_not_captured():
    flat = Curves([Point(1, 30e6, 30e6), Point(256, 40e6, 36e6)])
    assert choose({1: 5, 200: 5}, flat, Limits()).sizes == ()


def test_sizes_that_were_not_measured_are_refused():
    with pytest.raises(LaunchlensError, match="1 to 256"):
        choose({300: 1}, CURVES, Limits())


def test_engines_are_told_in_their_own_words():
    told = {o.engine: o.write((1, 2, 40)) for o in capture_options()}
    assert told["SGLang"] == "--cuda-graph-bs 1 2 40"
    assert told["vLLM"] == ("--compilation-config '{\"cudagraph_capture_sizes\": [1, 2, 40]}'")
    assert told["TensorRT-LLM"] == (
        "cuda_graph_config: {batch_sizes: [1, 2, 40], enable_padding: true}"
    )


def test_vllms_default():
    (vllm,) = [o for o in capture_options() if o.default]
    assert vllm.default(40) == [1, 2, 4, 8, 16, 24, 32, 40]
    assert vllm.default(10_000)[-3:] == [480, 496, 512]
