"""Charts: plotly accepts them, and what they draw is what the record holds."""

from __future__ import annotations

import html_records as records
import pytest

from launchlens.records.timeline import Lane, Span
from launchlens.render import html_charts as charts
from launchlens.render.html_figures import Series, bars_by_category
from launchlens.render.html_modules import OUTSIDE, count_launches, module_chart
from launchlens.render.html_palette import GAP_CAUSES, SIDE_COLOURS, text_on

COMPARISON = records.comparison()
PHASE = COMPARISON.phases[0]


def all_figures():
    yield charts.idle_chart(COMPARISON, PHASE, 0)
    yield charts.time_chart(COMPARISON, PHASE, 0)
    yield charts.idle_fraction_chart(COMPARISON, PHASE, 0)
    yield from charts.gap_charts(COMPARISON)
    yield charts.call_chart(COMPARISON)
    yield charts.kernel_chart(COMPARISON)
    yield from charts.request_charts(COMPARISON)


@pytest.mark.parametrize("figure", list(all_figures()), ids=lambda figure: figure.id)
def test_plotly_accepts_every_figure(figure):
    graph_objects = pytest.importorskip("plotly.graph_objects")
    graph_objects.Figure({"data": figure.data, "layout": figure.layout})


def test_idle_bars_are_the_causes_of_the_record():
    figure = charts.idle_chart(COMPARISON, PHASE, 0)
    drawn = {trace["name"]: trace["x"] for trace in figure.data}
    assert drawn == {
        "busy": [10.8324, 11.7832, 9.9372],
        "host": [51.0, 0.24, 4.4],
        "launch": [7.9, 0.06, 0.9],
        "sync": [0.6, 0.0, 0.3],
        "device": [0.12, 2.09, 1.2],
        "lead-in": [0.31, 0.095, 0.12],
        "tail": [0.0376, 0.0318, 0.0428],
    }
    assert figure.layout["barmode"] == "stack"


def test_step_times_and_idle_side_by_side():
    times = charts.time_chart(COMPARISON, PHASE, 0)
    assert times.labels == ("untraced", "traced", "busy on the GPU")
    assert times.data[0]["x"] == [49.1, 70.8, 10.8324]
    idle = charts.idle_fraction_chart(COMPARISON, PHASE, 0)
    assert idle.data[0]["x"] == pytest.approx([84.7, 77.9])
    assert idle.data[2]["x"] == [pytest.approx(41.2), None]


def test_gap_histogram_is_per_step():
    time, count = charts.gap_charts(COMPARISON)
    assert count.data[0]["x"] == ["< 2", "2-5", "5-10", "10-50", "50-500", "> 500"]
    assert count.data[0]["y"] == [550, 225, 1025, 1975, 52.5, 1]  # over 4 steps
    assert time.data[0]["y"] == pytest.approx([0.725, 0.775, 7.75, 40, 5.25, 2.25])


def test_calls_and_kernels_are_per_step_largest_first():
    calls = charts.call_chart(COMPARISON)
    assert calls.labels[:2] == ("cudaLaunchKernel", "cuLaunchKernelEx")
    assert calls.data[0]["x"] == [3200, 628, 10, 3]
    kernels = charts.kernel_chart(COMPARISON)
    assert kernels.data[1]["x"] == [850, 300]
    assert kernels.data[0]["customdata"][0] == [
        records.ADD.replace("<", "&lt;").replace(">", "&gt;"),
        "850",
    ]


def test_requests_by_concurrency():
    ttft, itl = charts.request_charts(COMPARISON)
    assert ttft.data[0]["x"] == ["1", "4"]
    assert ttft.data[0]["y"][0] == 48.3
    assert [bar["name"] for bar in ttft.data] == ["eager", "cudagraph"]
    assert ttft.caption.endswith("Unknown: breakable.")
    assert itl.data[1]["y"] == [8.7, 8.7]


def test_a_chart_says_the_same_in_its_table_and_in_words():
    figure = bars_by_category(
        "f", "Title", "", ["a", "b"], [Series("one", "#000000", (1_500_000, None))], unit="ns"
    )
    assert [[c.text for c in row.cells] for row in figure.table.rows] == [["1.50 ms"], ["unknown"]]
    assert figure.summary == "Title. one: a 1.50 ms, b unknown."


def test_labels_on_colours_can_be_read():
    """WCAG's contrast of small text, 4.5 to 1, for every colour that carries text."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        low, high = 12.92, 2.4
        lin = [p / low if p <= 0.04045 else ((p + 0.055) / 1.055) ** high for p in parts]
        return 0.2126 * lin[0] + 0.7152 * lin[1] + 0.0722 * lin[2]

    for colour in (*SIDE_COLOURS, *(colour for colour, _ in GAP_CAUSES.values())):
        light, dark = sorted((luminance(colour), luminance(text_on(colour))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, colour


def test_launches_belong_to_the_innermost_module():
    launch = [Span("cudaLaunchKernel", at, 2, "launch") for at in (5, 15, 25, 35, 45, 95)]
    ranges = (
        Span("module:layers.0", 10, 40, "module"),
        Span("module:layers.0.mlp", 20, 10, "module"),
        Span("module:layers.1.mlp", 60, 40, "module"),
        Span("prefill", 0, 100, "range"),
    )
    line = records.timeline("eager", 1, 100, 10)
    made = type(line)(
        "eager",
        0,
        "prefill",
        "prefill",
        100,
        (Lane("calls", "host", (*launch, Span("sync", 16, 1, "sync"))), Lane("r", "range", ranges)),
    )
    assert count_launches(made) == {OUTSIDE: 1, "layers.*": 3, "layers.*.mlp": 2}
    figure = module_chart([made])
    assert dict(zip(figure.labels, figure.data[0]["x"], strict=True)) == {
        "layers.*": 3,
        "layers.*.mlp": 2,
        OUTSIDE: 1,
    }


def test_without_module_ranges_no_module_chart():
    line = records.timeline("eager", 3, 100, 10)
    lanes = tuple(lane for lane in line.lanes if lane.role != "range")
    assert module_chart([type(line)("e", 0, "p", "prefill", 100, lanes)]) is None
