"""Charts as plotly draws them: plotly accepts them, and they show the document's numbers."""

from __future__ import annotations

from dataclasses import replace

import html_records as records
import pytest

from launchlens.catalogue import gap_causes
from launchlens.render.html.figures import figure
from launchlens.render.html.palette import CAUSE_COLOURS, SIDE_COLOURS, colour, text_on
from launchlens.report.cells import Value
from launchlens.report.document import Chart, Series

FORMS = ("bars", "stacked", "columns", "lines")


def ns(*numbers):
    return tuple(Value(number, "ns") for number in numbers)


def chart(form="bars", **changes):
    series = (
        Series("eager", ns(1_500_000, None), ("side", "0")),
        Series("captured", ns(250_000, 3_000_000), ("side", "1")),
    )
    return replace(Chart("f", "Title", ("a", "b"), series, "ns", form), **changes)


@pytest.mark.parametrize("form", FORMS)
def test_plotly_accepts_every_form(form):
    graph_objects = pytest.importorskip("plotly.graph_objects")
    view = figure(chart(form), "f")
    graph_objects.Figure({"data": view.data, "layout": view.layout})


@pytest.mark.parametrize("form", FORMS)
def test_times_are_drawn_in_milliseconds_and_unknown_is_no_zero(form):
    view = figure(chart(form), "f")
    axis = "x" if form in ("bars", "stacked") else "y"
    assert [one[axis] for one in view.data] == [[1.5, None], [0.25, 3.0]]


def test_fractions_are_drawn_in_per_cent():
    series = (Series("eager", (Value(0.847, "fraction"),), ("side", "0")),)
    view = figure(chart(categories=("idle",), series=series, unit="fraction"), "f")
    assert view.data[0]["x"] == [pytest.approx(84.7)]
    assert view.layout["xaxis"]["title"]["text"] == "per cent"


def test_a_bar_that_is_missing_is_said_to_be_unknown():
    texts = [one["text"] for one in figure(chart(), "f").layout["annotations"]]
    assert texts == ["a", "b", "<i>eager: unknown</i>"]
    assert figure(chart("stacked"), "f").layout["barmode"] == "stack"


def test_a_chart_says_the_same_in_its_table_and_in_words():
    view = figure(chart(), "f")
    assert [(row.title, [cell.text for cell in row.cells]) for row in view.table.rows] == [
        ("a", ["1.50 ms", "250.0 µs"]),
        ("b", ["unknown", "3.00 ms"]),
    ]
    assert view.summary == ("Title. eager: a 1.50 ms, b unknown; captured: a 250.0 µs, b 3.00 ms.")


def test_a_bound_is_marked_wherever_a_chart_writes_its_value():
    series = (Series("captured", (Value(4_650_000, "ns", "upper"),), ("busy", "")),)
    view = figure(chart(categories=("step",), series=series), "f")
    assert view.data[0]["text"] == ["≤ 4.65 ms"]
    assert view.table.rows[0].cells[0].text == "≤ 4.65 ms"
    assert "≤ 4.65 ms" in view.summary


def test_a_legend_explains_series_and_needs_two():
    view = figure(chart(), "f")
    assert [words for _, words in view.legend] == ["eager", "captured"]
    assert figure(chart(series=chart().series[:1]), "f").legend == ()


def test_names_carry_no_markup_into_plotly():
    name = "<b>bold</b><a href='x'>"
    made = chart(categories=(name, "b"), series=(replace(chart().series[0], name=name),))
    for form in FORMS:
        view = figure(replace(made, form=form, short=()), "f")
        texts = [view.data[0]["name"], str(view.data[0].get("customdata")), str(view.data[0]["x"])]
        texts += [one["text"] for one in view.layout.get("annotations", [])]
        texts += view.layout["xaxis"].get("ticktext", [])
        assert not [text for text in texts if "<b>" in text or "<a" in text]


def test_a_line_breaks_at_the_unknown_and_goes_on_across_the_absent():
    made = chart("lines", categories=("r1", "r2", "r3"))
    unknown = Series("eager", ns(1_000_000, None, 2_000_000), ("side", "1"))
    absent = replace(unknown, name="captured", absent=(1,))
    first, second = figure(replace(made, series=(unknown, absent)), "f").data
    assert (first["x"], first["y"]) == ([0, 1, 2], [1.0, None, 2.0])
    assert (second["x"], second["y"]) == ([0, 2], [1.0, 2.0])
    assert not first["connectgaps"]
    assert first["marker"]["symbol"] != second["marker"]["symbol"]


def test_intervals_are_bars_around_the_median():
    value = Value(10_000_000, "ns", None, 8_000_000, 13_000_000)
    series = Series("eager", (value,), ("side", "1"), hover=("+3.0% since the run before",))
    (line,) = figure(chart("lines", categories=("run1",), series=(series,)), "f").data
    bars = line["error_y"]
    assert (bars["array"], bars["arrayminus"]) == ([3.0], [2.0])
    hover = ["run1", "10.0 ms", "(8.00 ms to 13.0 ms), +3.0% since the run before"]
    assert line["customdata"] == [hover]


def test_few_runs_are_named_below_the_axis_of_many():
    names = tuple(f"2026-11-{day:02} commit" for day in range(1, 30))
    series = (Series("eager", ns(*range(29)), ("side", "1")),)
    axis = figure(chart("lines", categories=names, series=series), "f").layout["xaxis"]
    assert len(axis["tickvals"]) == len(axis["ticktext"]) <= 5
    assert axis["tickvals"][-1] == 28
    assert axis["ticktext"][-1] == "2026-11-29<br>commit"


def test_only_the_last_runs_of_a_line_are_read_aloud():
    names = tuple(f"run{i}" for i in range(29))
    series = (Series("eager", ns(*range(29)), ("side", "1")),)
    heard = figure(chart("lines", categories=names, series=series), "f").summary
    assert heard.startswith("Title. eager: run21 21 ns")
    assert heard.endswith("run28 28 ns.")


def test_every_cause_has_a_colour_of_its_own():
    assert len({colour("cause", cause) for cause in gap_causes()}) == len(gap_causes())


def test_labels_on_colours_can_be_read():
    """WCAG's contrast of small text, 4.5 to 1, for every colour that carries text."""

    def luminance(code):
        parts = [int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        low, high = 12.92, 2.4
        lin = [p / low if p <= 0.04045 else ((p + 0.055) / 1.055) ** high for p in parts]
        return 0.2126 * lin[0] + 0.7152 * lin[1] + 0.0722 * lin[2]

    for code in (*SIDE_COLOURS, *CAUSE_COLOURS, colour("busy", "")):
        light, dark = sorted((luminance(code), luminance(text_on(code))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, code


def test_long_names_are_shortened_above_bars_and_whole_in_the_table():
    view = figure(chart(categories=(records.LONG, "b")), "f")
    assert len(view.layout["annotations"][0]["text"]) < 70
    assert view.table.rows[0].title == records.LONG
