"""Charts as the page draws them: lengths are the document's numbers, unknown is no zero."""

from __future__ import annotations

from dataclasses import replace

import html_records as records
import pytest

from launchlens.catalogue import gap_causes
from launchlens.render.html.figures import figure
from launchlens.render.html.palette import CAUSE_COLOURS, SIDE_COLOURS, colour, text_on
from launchlens.report.cells import Value
from launchlens.report.pictures import Chart, Series

FORMS = ("bars", "stacked", "changes", "columns", "lines")


def ns(*numbers):
    return tuple(Value(number, "ns") for number in numbers)


def chart(form="bars", **changes):
    series = (
        Series("eager", ns(1_500_000, None), ("side", "0")),
        Series("captured", ns(750_000, 3_000_000), ("side", "1")),
    )
    return replace(Chart("f", "Title", ("a", "b"), series, "ns", form), **changes)


def test_bars_are_as_long_as_their_values():
    first, second = figure(chart(), "f").plot
    assert [(part.size, part.text) for part in first.parts] == [(50, "1.50 ms"), (25, "750.0 µs")]
    assert [part.size for part in second.parts] == [0, 100]
    assert [part.colour for part in first.parts] == list(SIDE_COLOURS[:2])


def test_a_bar_that_is_missing_is_said_to_be_unknown():
    _, second = figure(chart(), "f").plot
    assert (second.parts[0].text, second.parts[0].style) == ("eager: unknown", "unknown")


def test_a_stack_is_as_long_as_its_sum_and_leaves_out_what_is_not_there():
    first, second = figure(chart("stacked"), "f").plot
    assert [part.size for part in first.parts] == [50, 25]  # of the longest, 3 ms
    assert [(part.size, part.text) for part in second.parts] == [(100, "3.00 ms")]


def test_a_time_below_zero_is_no_bar():
    series = (Series("tail", ns(-5), ("cause", "tail")), Series("busy", ns(10), ("busy", "")))
    (row,) = figure(chart("stacked", categories=("eager",), series=series), "f").plot
    assert [part.text for part in row.parts] == ["10 ns"]


def test_changes_have_the_colour_of_better_or_worse_and_keep_the_sign_of_a_bound():
    values = (Value(-500, "ns"), Value(1000, "ns", "lower"))
    series = (Series("change", values, ("side", "1"), hover=("2 µs → 1.5 µs", "0 → 1 µs")),)
    less, more = figure(chart("changes", series=series), "f").plot
    assert less.parts[0].style == "better"
    assert (less.parts[0].size, less.parts[0].text) == (50, "−500 ns")
    assert more.parts[0].style == "worse"
    assert (more.parts[0].text, more.parts[0].tip) == ("≥ +1.00 µs", "0 → 1 µs")


def test_what_stands_at_a_category():
    made = chart(full=("a whole", "b"), beside=("1 ms", ""), chips=("", "fastest"))
    first, second = figure(replace(made, roles=(("side", "2"), ("side", "0"))), "f").plot
    assert (first.full, first.beside, first.swatch) == ("a whole", "1 ms", SIDE_COLOURS[2])
    assert (second.chip, second.swatch) == ("fastest", SIDE_COLOURS[0])


def test_columns_stand_on_an_axis_with_round_ticks():
    plot = figure(chart("columns"), "f").plot
    assert plot.ticks == ((0, "0"), (33.333, "1"), (66.667, "2"), (100, "3"))
    assert plot.unit == "milliseconds"
    assert [part.size for part in plot.groups[0].parts] == [50, 25]
    assert plot.groups[1].parts[0].tip == "eager, b: unknown"


@pytest.mark.parametrize(
    ("most", "texts"),
    [
        (8_000_000, ["0", "2", "4", "6", "8"]),
        (47_400_000, ["0", "20", "40", "60"]),
        (90_000, ["0", "0.025", "0.05", "0.075", "0.1"]),
        (1, ["0", "2.5e−07", "5e−07", "7.5e−07", "1e−06"]),
        (1_000_000, ["0", "0.25", "0.5", "0.75", "1"]),
    ],
)
def test_axes_end_above_the_largest_value(most, texts):
    series = (Series("eager", ns(most, most), ("side", "0")),)
    plot = figure(chart("columns", series=series), "f").plot
    assert [text for _, text in plot.ticks][: len(texts)] == texts
    assert 50 < plot.groups[0].parts[0].size <= 100


def test_fractions_are_drawn_in_per_cent():
    series = (Series("eager", (Value(0.847, "fraction"),), ("side", "0")),)
    made = chart("columns", categories=("idle",), series=series, unit="fraction")
    plot = figure(made, "f").plot
    assert (plot.unit, plot.ticks[-1]) == ("per cent", (100, "100"))
    assert plot.groups[0].parts[0].size == pytest.approx(84.7)


def test_nothing_known_draws_nothing_and_says_so():
    series = (Series("eager", ns(None, None), ("side", "0")),)
    for form in FORMS:
        view = figure(chart(form, series=series), "f")
        assert [cell.text for row in view.table.rows for cell in row.cells] == ["unknown"] * 2


def test_a_chart_says_the_same_in_its_table_and_in_words():
    view = figure(chart(), "f")
    assert [(row.title, [cell.text for cell in row.cells]) for row in view.table.rows] == [
        ("a", ["1.50 ms", "750.0 µs"]),
        ("b", ["unknown", "3.00 ms"]),
    ]
    assert view.summary == ("Title. eager: a 1.50 ms, b unknown; captured: a 750.0 µs, b 3.00 ms.")


@pytest.mark.parametrize("form", FORMS)
def test_a_bound_is_marked_wherever_a_chart_writes_its_value(form):
    series = (Series("captured", (Value(4_650_000, "ns", "upper"),), ("busy", "")),)
    view = figure(chart(form, categories=("step",), series=series), "f")
    assert view.table.rows[0].cells[0].text == "≤ 4.65 ms"
    assert "≤ 4.65 ms" in view.summary
    assert "≤ " in str(view.plot)


def test_a_legend_explains_series_and_needs_two():
    view = figure(chart(), "f")
    assert [name for _, name, _ in view.legend] == ["eager", "captured"]
    assert figure(chart(series=chart().series[:1]), "f").legend == ()


def test_a_line_breaks_at_the_unknown_and_goes_on_across_the_absent():
    made = chart("lines", categories=("r1", "r2", "r3", "r4"))
    unknown = Series("eager", ns(1_000_000, None, 2_000_000, 1_000_000), ("side", "1"))
    absent = replace(unknown, name="captured", absent=(1,))
    first, second = figure(replace(made, series=(unknown, absent)), "f").plot.lines
    assert first.paths == ("62.5,0 87.5,50",)
    assert second.paths == ("12.5,50 62.5,0 87.5,50",)
    assert [len(line.marks) for line in (first, second)] == [3, 3]
    assert first.symbol != second.symbol


def test_intervals_are_bars_around_the_median():
    value = Value(10_000_000, "ns", None, 8_000_000, 16_000_000)
    series = Series("eager", (value,), ("side", "1"), hover=("+3.0% since the run before",))
    plot = figure(chart("lines", categories=("run1",), series=(series,)), "f").plot
    (mark,) = plot.lines[0].marks
    assert plot.ticks[-1] == (100, "20")
    assert (mark.low, mark.up, mark.high) == (40, 50, 80)
    assert mark.tip == "run1, eager, 10.0 ms (8.00 ms to 16.0 ms), +3.0% since the run before"


def test_few_runs_are_named_below_the_axis_of_many():
    names = tuple(f"2026-11-{day:02} commit" for day in range(1, 30))
    series = (Series("eager", ns(*range(29)), ("side", "1")),)
    plot = figure(chart("lines", categories=names, series=series), "f").plot
    assert len(plot.names) <= 5
    assert plot.names[-1] == (pytest.approx(100 * 28.5 / 29, abs=0.001), "2026-11-29 commit")


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


def test_the_table_has_whole_names():
    view = figure(chart(full=(records.LONG, "b")), "f")
    assert view.plot[0].name == "a"
    assert view.table.rows[0].title == records.LONG
