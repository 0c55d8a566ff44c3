"""Forecasts from shipped eager traces beside what the captured steps were measured to take.

Measured times are those of tests/cli/recorded: processes without a profiler, real runs on an H200.
"""

from __future__ import annotations

import json
import statistics
from functools import cache

import pytest
from step_graphs import ROOT, shipped

from launchlens.workflow.forecasting import forecast_trace

RECORDED = ROOT / "tests/cli/recorded"
PAIRS = [
    # eager trace, folder of the measured times, variant, phase
    ("profile-qwen3-0.6b-eager.node", "qwen3_all", "cudagraph", "prefill"),
    ("profile-qwen3-0.6b-eager.node", "qwen3_all", "breakable", "prefill"),
    ("profile-gemma-4-e4b-eager.node", "gemma4", "cudagraph", "prefill"),
    ("profile-gemma-4-e4b-osl5-eager.node", "gemma4_requests", "cudagraph", "prefill"),
    ("profile-gemma-4-e4b-osl5-eager.node", "gemma4_requests", "cudagraph", "decode"),
    ("profile-gemma-4-e4b-osl5-eager.node", "gemma4_requests", "breakable", "prefill"),
    ("profile-gemma-4-e4b-osl5-eager.node", "gemma4_requests", "breakable", "decode"),
    ("profile-gemma-3n-e4b-both-fixes-eager.node", "gemma3n_fixed", "cudagraph", "prefill"),
]
MEDIAN, WORST = 0.02, 0.06
"""Errors that are allowed where the captured kernels are the eager ones."""


@cache
def forecasts(trace):
    return {(f.variant, f.phase): f for f in forecast_trace(shipped(trace)).forecasts}


def measured_ns(folder, variant, phase):
    medians = [
        json.loads(path.read_text())["steps"][phase]["median_ns"]
        for path in (RECORDED / folder).glob(f"{variant}.time*.json")
    ]
    return statistics.median(medians)


@pytest.mark.parametrize(("trace", "folder", "variant", "phase"), PAIRS)
def test_each_outcome_lies_in_its_interval(trace, folder, variant, phase):
    forecast = forecasts(trace)[variant, phase]
    outcome = measured_ns(folder, variant, phase)
    assert forecast.low_ns <= outcome <= forecast.high_ns
    assert abs(forecast.step_ns / outcome - 1) <= WORST


def test_the_median_error_is_small():
    errors = [
        abs(forecasts(trace)[variant, phase].step_ns / measured_ns(folder, variant, phase) - 1)
        for trace, folder, variant, phase in PAIRS
    ]
    assert statistics.median(errors) <= MEDIAN


def test_intervals_are_narrow_enough_to_be_of_use():
    for trace, _, variant, phase in PAIRS:
        f = forecasts(trace)[variant, phase]
        assert (f.high_ns - f.low_ns) / f.step_ns < 0.08


def test_work_that_capturing_adds_is_counted_where_it_is_added():
    """Prefill makes no mask without a cache and the captured step does; decode has one anyway."""
    gemma = forecasts("profile-gemma-4-e4b-osl5-eager.node")
    assert gemma["cudagraph", "prefill"].added_ns > 0
    assert gemma["cudagraph", "decode"].added_ns == 0
    compiled = forecasts("profile-qwen3-0.6b-compile.node")
    assert compiled["cudagraph", "prefill"].added_ns == 0
