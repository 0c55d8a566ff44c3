"""Charts of a report: what they show is what the record holds, in the record's own units."""

from __future__ import annotations

from dataclasses import replace

import handmade
import html_records as records
import pytest

from launchlens.catalogue import gap_causes
from launchlens.records.comparison import Row
from launchlens.records.timeline import Lane, Span, Timeline
from launchlens.records.trend import TrendPoint
from launchlens.report import charts, group_charts
from launchlens.report.document import Chart
from launchlens.report.modules import OUTSIDE, launches_by_module
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
    assert chart.categories == ("eager", "cudagraph", "breakable")
    assert drawn(chart) == {
        "busy": [10_832_400, 11_783_200, 9_937_200],
        "host": [51_000_000, 240_000, 4_400_000],
        "launch": [7_900_000, 60_000, 900_000],
        "sync": [600_000, 0, 300_000],
        "device": [120_000, 2_090_000, 1_200_000],
        "lead-in": [310_000, 95_000, 120_000],
        "tail": [37_600, 31_800, 42_800],
    }


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
    assert [value.bound for value in chart.series[0].values] == [None, "upper", None]


def test_step_times_and_idle_side_by_side():
    times = charts.step_times(COMPARISON, PHASE, 0)
    assert by_category(times, "eager") == {
        "untraced": 49_100_000,
        "traced": 70_800_000,
        "busy on the GPU": 10_832_400,
    }
    assert drawn(times)["breakable"] == [None, 16_900_000, 9_937_200]
    idle = charts.idle_fractions(COMPARISON, PHASE, 0)
    assert drawn(idle) == {
        "eager": [0.847, 0.779],
        "cudagraph": [0.176, 0.094],
        "breakable": [0.412, None],
    }


def test_without_untraced_times_no_chart_of_them():
    def unknown(row: Row) -> Row:
        return replace(row, cells=tuple(replace(cell, value=None) for cell in row.cells))

    rows = [unknown(r) if r.metric.startswith(("untraced", "idle_c")) else r for r in PHASE.rows]
    phase = replace(PHASE, rows=tuple(rows))
    assert charts.step_times(COMPARISON, phase, 0) is None
    assert charts.idle_fractions(COMPARISON, phase, 0) is None


def test_gap_histogram_is_per_step():
    time, count = charts.gap_lengths(COMPARISON)
    assert count.categories == ("< 2", "2-5", "5-10", "10-50", "50-500", "> 500")
    assert drawn(count)["eager"] == [550, 225, 1025, 1975, 52.5, 1]  # over 4 steps
    assert drawn(time)["eager"] == [725_000, 775_000, 7_750_000, 40_000_000, 5_250_000, 2_250_000]


def test_calls_and_kernels_are_per_step_largest_first():
    calls = charts.api_calls(COMPARISON)
    assert calls.categories[:2] == ("cudaLaunchKernel", "cuLaunchKernelEx")
    assert drawn(calls)["eager"] == [3200, 628, 10, 3]
    kernels = charts.kernels(COMPARISON, {})
    assert by_category(kernels, "cudagraph") == {records.ADD: 850, records.GEMM: 300}


def test_a_side_without_figures_is_named_once():
    made = records.comparison(candidates=1)
    silent = replace(made.candidates[0], kernels=(), api_calls=(), gap_histogram=())
    chart = charts.kernels(replace(made, candidates=(silent,)), {})
    assert list(drawn(chart)) == ["eager"]
    assert chart.caption.endswith("Shown is eager. Unknown: cudagraph.")


def test_sides_keep_their_colours_where_one_is_left_out():
    made = records.comparison()
    silent = replace(made.candidates[0], kernels=())
    chart = charts.kernels(replace(made, candidates=(silent, made.candidates[1])), {})
    assert [one.role for one in chart.series] == [("side", "0"), ("side", "2")]


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
    assert drawn(chart)["host"] == [3_000_000]
    assert "tail" not in drawn(chart)


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
    chart = charts.kernels(records.comparison(name=name), {})
    assert name in chart.categories
