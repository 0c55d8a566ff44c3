"""Charts of a report: what they show is what the record holds, in the record's own units."""

from __future__ import annotations

from dataclasses import replace

import handmade
import html_records as records
import pytest

from launchlens.catalogue import gap_causes
from launchlens.records.figures import KernelRow
from launchlens.records.timeline import Lane, Span, Timeline
from launchlens.records.trend import TrendPoint
from launchlens.report import charts, group_charts
from launchlens.report.modules import OUTSIDE, launches_by_module
from launchlens.report.pictures import Chart
from launchlens.report.trend import trend_document

COMPARISON = records.comparison()
PHASE = COMPARISON.phases[0]


def drawn(chart):
    """Numbers by name of the series."""
    return {one.name: [value.number for value in one.values] for one in chart.series}


def by_category(chart, name):
    return dict(zip(chart.categories, drawn(chart)[name], strict=True))


def test_idle_bars_are_the_causes_of_the_record():
    chart = charts.idle_by_cause(COMPARISON, PHASE, 0)
    assert chart.form == "stacked"
    assert chart.categories == ("cudagraph", "breakable", "eager")  # the fastest first
    assert drawn(chart) == {
        "busy": [11_783_200, 9_937_200, 10_832_400],
        "idle: Python, framework": [240_000, 4_400_000, 51_000_000],
        "idle: launch latency": [60_000, 900_000, 7_900_000],
        "idle: synchronization": [0, 300_000, 600_000],
        "idle: between operations": [2_090_000, 1_200_000, 120_000],
        "idle: before first operation": [95_000, 120_000, 310_000],
        "idle: after last operation": [31_800, 42_800, 37_600],
    }
    assert chart.beside == ("14.3 ms", "16.9 ms", "70.8 ms")
    assert chart.chips == ("fastest", "", "")
    assert [number for _, number in chart.roles] == ["1", "2", "0"]


def test_one_candidate_stands_below_its_baseline_and_wins_no_title():
    made = records.comparison(candidates=1)
    chart = charts.idle_by_cause(made, made.phases[0], 0)
    assert chart.categories == ("eager", "cudagraph")
    assert chart.chips == ("", "")


def test_every_cause_of_idle_time_is_explained():
    explained = {name for name, metric in charts.causes() if metric.legend}
    assert explained == set(gap_causes())


def test_a_bound_stays_one_in_a_chart():
    rows = [
        replace(row, cells=(row.cells[0], replace(row.cells[1], bound="upper"), row.cells[2]))
        if row.metric == "busy_ns"
        else row
        for row in PHASE.rows
    ]
    chart = charts.idle_by_cause(COMPARISON, replace(PHASE, rows=tuple(rows)), 0)
    assert [value.bound for value in chart.series[0].values] == ["upper", None, None]


def test_gap_histogram_is_per_step():
    time, count = charts.gap_lengths(COMPARISON)
    assert count.categories == ("< 2", "2-5", "5-10", "10-50", "50-500", "> 500")
    assert drawn(count)["eager"] == [550, 225, 1025, 1975, 52.5, 1]  # over 4 steps
    assert drawn(time)["eager"] == [725_000, 775_000, 7_750_000, 40_000_000, 5_250_000, 2_250_000]


def test_calls_are_per_step_launches_first():
    calls = charts.api_calls(COMPARISON)
    assert calls.categories[:2] == ("cudaLaunchKernel", "cuLaunchKernelEx")
    assert drawn(calls)["eager"] == [3200, 628, 10, 3]


def test_a_side_without_figures_is_named_once():
    made = records.comparison(candidates=1)
    silent = replace(made.candidates[0], kernels=(), api_calls=(), gap_histogram=())
    chart = charts.api_calls(replace(made, candidates=(silent,)))
    assert list(drawn(chart)) == ["eager"]
    assert chart.caption.endswith("Shown is eager. Unknown: cudagraph.")


def test_sides_keep_their_colours_where_one_is_left_out():
    made = records.comparison()
    silent = replace(made.candidates[0], api_calls=())
    chart = charts.api_calls(replace(made, candidates=(silent, made.candidates[1])))
    assert [one.role for one in chart.series] == [("side", "0"), ("side", "2")]


def with_kernels(before, after):
    """A comparison over 4 steps a side whose kernels are (name, count, time, bound of the time)."""
    made = records.comparison(candidates=1)
    sides = [
        replace(
            side,
            kernels=tuple(
                KernelRow(name, count, total_ns, None, None, total_bound=bound)
                for name, count, total_ns, bound in kernels
            ),
        )
        for side, kernels in zip(made.sides, (before, after), strict=True)
    ]
    return replace(made, baseline=sides[0], candidates=(sides[1],))


def test_kernels_that_changed_stand_in_the_order_of_their_gpu_time():
    made = with_kernels(
        [("a", 4, 4000, None), ("b", 8, 8000, None), ("c", 4, 40_000, None), ("d", 4, 900, None)],
        [("b", 12, 20_000, None), ("c", 4, 20_000, None), ("e", 4, 4, None), ("d", 4, 901, None)],
    )
    chart = charts.kernel_changes(made, 1, {"b": "short b"})
    assert chart.form == "changes"
    assert chart.categories == ("c", "short b", "a", "e")  # d took the same time
    assert chart.full == ("c", "b", "a", "e")
    assert drawn(chart)["change"] == [-5000, 3000, -1000, 1]
    assert chart.beside == (
        "faster, 1 per step",
        "2 → 3 per step",
        "removed, 1 → 0 per step",
        "added, 0 → 1 per step",
    )
    assert chart.series[0].hover[1] == "2.00 µs → 5.00 µs per step"


def test_a_change_of_a_bound_is_one_and_of_two_bounds_unknown():
    made = with_kernels(
        [("a", 4, 4000, "lower"), ("b", 4, 4000, None), ("c", 4, 4000, "lower")],
        [("a", 4, 8000, None), ("b", 4, 8000, "lower"), ("c", 4, 80_000, "lower")],
    )
    chart = charts.kernel_changes(made, 1, {})
    assert chart.categories == ("a", "b")
    assert [value.bound for value in chart.series[0].values] == ["upper", "lower"]
    assert chart.series[0].hover == ("≥ 1.00 µs → 2.00 µs per step", "1.00 µs → ≥ 2.00 µs per step")


def test_unknown_kernels_have_no_changes():
    assert charts.kernel_changes(with_kernels([], [("a", 4, 4000, None)]), 1, {}) is None
    same = [("a", 4, 4000, None)]
    assert charts.kernel_changes(with_kernels(same, same), 1, {}) is None


def test_requests_by_concurrency():
    ttft, itl = charts.requests(COMPARISON)
    assert by_category(ttft, "eager")["1"] == 48_300_000
    assert list(drawn(ttft)) == ["eager", "cudagraph"]
    assert ttft.caption.endswith("Unknown: breakable.")
    assert by_category(itl, "cudagraph") == {"1": 8_700_000, "4": 8_700_000}


def test_a_group_shows_the_parts_of_its_step_that_are_known():
    gaps = {"gaps_ns.host": handmade.stat(3_000_000, 5), "gaps_ns.tail": handmade.stat(0, 5)}
    group = handmade.group(metrics=handmade.group().metrics | gaps)
    chart = group_charts.step_time(group, 0)
    assert drawn(chart)["idle: Python, framework"] == [3_000_000]
    assert "idle: after last operation" not in drawn(chart)


def test_launches_belong_to_the_innermost_module():
    launch = [Span("cudaLaunchKernel", at, 2, "launch") for at in (5, 15, 25, 35, 45, 95)]
    ranges = (
        Span("module:layers.0", 10, 40, "module"),
        Span("module:layers.0.mlp", 20, 10, "module"),
        Span("module:layers.1.mlp", 60, 40, "module"),
        Span("prefill", 0, 100, "range"),
    )
    calls = Lane("calls", "host", (*launch, Span("sync", 16, 1, "sync")))
    made = Timeline("eager", 0, "prefill", "prefill", 100, (calls, Lane("r", "range", ranges)))
    expected = {OUTSIDE: 1, "layers.*": 3, "layers.*.mlp": 2}
    assert launches_by_module(made) == expected
    chart = group_charts.modules([made])
    assert by_category(chart, "eager") == expected
    assert chart.categories[0] == "layers.*"


def test_without_module_ranges_no_module_chart():
    line = records.timeline("eager", 3, 100, 10)
    lanes = tuple(lane for lane in line.lanes if lane.role != "range")
    assert group_charts.modules([replace(line, lanes=lanes)]) is None


def trend(*series):
    return next(b for b in trend_document(series).sections[0].blocks if isinstance(b, Chart))


def test_a_line_for_each_variant_over_all_runs():
    eager = records.trend([47_400_000, 48_300_000, None, 4_670_000])
    chart = trend(eager, records.trend([4_670_000], variant="cudagraph"))
    assert drawn(chart) == {
        "eager": [47_400_000, 48_300_000, None, 4_670_000],
        "cudagraph": [4_670_000, None, None, None],
    }
    assert [one.absent for one in chart.series] == [(), (1, 2, 3)]
    assert chart.short[:2] == ("2026-11-01 1111111", "2026-11-02 2222222+")
    assert chart.categories[1] == "2026-11-02 2222222+ (run2)"
    assert chart.series[0].hover[:2] == ("", "+1.9% since the run before")


def test_a_point_of_a_trend_keeps_interval_and_bound():
    point = TrendPoint("run1", "2026-11-01T12:00:00+00:00", None, None, 0.5, 0.4, 0.6)
    made = replace(
        records.trend([1], metric="idle", unit="fraction", source="graph"), points=(point,)
    )
    (value,) = trend(made).series[0].values
    assert (value.low, value.high, value.bound) == (0.4, 0.6, "lower")
    assert trend(made).short == ("2026-11-01 no commit",)


@pytest.mark.parametrize("name", [records.HOSTILE, "", "\ud800"])
def test_names_stay_as_they_are(name):
    made = records.comparison(name=name, candidates=1)
    candidate = replace(made.candidates[0], kernels=(KernelRow(name, 4, 9, None, None),))
    chart = charts.kernel_changes(replace(made, candidates=(candidate,)), 1, {})
    assert name in chart.categories
