"""How values and foreign text read: units, signs, changes, escapes."""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import replace

import pytest
from handmade import HOSTILE, analysis, group, row, stat
from hypothesis import given
from hypothesis import strategies as st
from written import as_github

from launchlens.records.comparison import Cell
from launchlens.records.figures import GapBin
from launchlens.render.markdown.markup import code, escaped, table_code
from launchlens.report.cells import Interval, Judged, Value
from launchlens.report.changes import brief_change, change, faster
from launchlens.report.sentences import analysis_sentence
from launchlens.report.side_cells import value_of
from launchlens.report.sides import judged
from launchlens.report.words import (
    format_ns,
    format_value,
    gap_bin_label,
    interval,
    plain,
    value,
)


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (7, "7 ns"),
        (999, "999 ns"),
        (999.4, "999 ns"),
        (1_000, "1.00 µs"),
        (9_994, "9.99 µs"),
        (9_996, "10.0 µs"),
        (12_345, "12.3 µs"),
        (999_400, "999.4 µs"),
        (999_600, "1.00 ms"),
        (71_996_702, "72.0 ms"),
        (1_500_000_000, "1.50 s"),
        (-23_000, "−23.0 µs"),
        (-4, "−4 ns"),
    ],
)
def test_times_keep_three_digits(ns, text):
    assert format_ns(ns) == text


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [
        (None, "ns", "unknown"),
        (0.847, "fraction", "84.7%"),
        (0.0, "fraction", "0.0%"),
        (-0.00001, "fraction", "0.0%"),
        (3828, "count", "3828"),
        (10.5, "count", "10.5"),
        (1536, "bytes", "1.50 KiB"),
        (3 << 30, "bytes", "3.00 GiB"),
        (19.4, "per_s", "19.4/s"),
    ],
)
def test_values_have_their_unit(number, unit, text):
    assert format_value(number, unit) == text


@pytest.mark.parametrize(
    ("metric", "before", "after", "text"),
    [
        ("launches", 3828, 1, "−3827 (−99.97%)"),
        ("launches", 10, 10, "0"),
        ("launches", 10, 12, "+2 (+20.0%)"),
        ("launches", 0, 4, "+4"),
        ("window_ns", 72_000_000, 14_300_000, "5.0× faster (−80.1%)"),
        ("window_ns", 100, 150, "1.5× slower (+50.0%)"),
        ("window_ns", 1000, 1117, "+11.7%"),
        ("untraced_ns", 63_000, 10_000, "6.3× faster (−84.1%)"),
        ("gaps_ns.device", 100, 1370, "+1270%"),
        ("launch_cost_ns", 5030, 1000, "−80.1%"),
        ("window_ns", 1000, 1001, "+0.1%"),
        ("window_ns", 100, 0, "−100%"),
        ("window_ns", 0, 5, "+5 ns"),
        ("tail_ns", -20_900, -1_350_000, "−1.33 ms"),
        ("tail_ns", -20_900, 79_100, "+100.0 µs"),
        ("idle", 0.847, 0.176, "−67.1 pp"),
        ("idle", 0.1, 0.15, "+5.0 pp"),
    ],
)
def test_changes_read_by_kind(metric, before, after, text):
    made = row(metric, before, after)
    assert change(judged(made, made.cells[1])) == text


def test_a_bound_of_a_change_keeps_its_direction_in_every_way_of_saying_it():
    """A time that fell by at least four fifths is at least five times as fast."""
    fell = Judged(Value(200, "ns"), -800, -0.8, change_bound="upper", speed=True)
    assert change(fell) == "≥ 5.0× faster (≤ −80.0%)"
    assert brief_change(fell) == "≥ 5.0× faster"
    assert change(replace(fell, speed=False)) == "≤ −80.0%"
    rose = Judged(Value(2000, "ns"), 1000, 1.0, change_bound="lower", speed=True)
    assert change(rose) == "≥ 2.0× slower (≥ +100.0%)"
    lost = Judged(Value(7, "count"), -3, -0.3, change_bound="lower")
    assert (change(lost), brief_change(lost)) == ("≥ −3 (≥ −30.0%)", "≥ −30.0%")


def test_faster_and_slower_are_said_one_way():
    assert [faster(*pair) for pair in ((63, 10), (10, 130), (10, 11), (10, 10), (0, 5))] == [
        "6.3× faster",
        "13× slower",
        "+10.0%",
        "0.0%",
        "",
    ]


def test_an_unknown_cell_has_a_word_and_no_change():
    made = row("idle", 0.8, None)
    assert value(value_of(made, made.cells[1])) == "unknown"
    assert change(judged(made, made.cells[1])) == ""


def test_bounds_are_marked():
    made = row("idle", 0.8, 0.1)
    assert value(value_of(made, Cell(0.1, bound="lower"))) == "≥ 10.0%"
    assert value(value_of(made, Cell(0.1, bound="upper"))) == "≤ 10.0%"
    assert value(value_of(made, Cell(None, bound="lower"))) == "unknown"


def test_intervals_and_gap_classes():
    assert interval(Interval(1000, 2000, "ns")) == "1.00 µs to 2.00 µs"
    assert interval(Interval(None, None, "ns")) == ""


def test_of_a_bound_an_interval_has_one_end():
    assert interval(Interval(0.2, 0.3, "fraction", "lower")) == "≥ 20.0%"
    assert interval(Interval(0.2, 0.3, "fraction", "upper")) == "≤ 30.0%"
    assert interval(Value(0.25, "fraction", "lower", 0.2, 0.3)) == "≥ 20.0%"
    assert gap_bin_label(GapBin(0, 2_000, 1, 1)) == "< 2 µs"
    assert gap_bin_label(GapBin(2_000, 5_000, 1, 1)) == "2-5 µs"
    assert gap_bin_label(GapBin(500_000, None, 1, 1)) == "> 500 µs"


@given(st.text() | st.sampled_from(HOSTILE))
def test_plain_text_is_one_line_without_control_characters(text):
    cleaned = plain(text)
    assert len(cleaned) <= 160
    assert len(cleaned.splitlines()) <= 1
    assert all(unicodedata.category(c)[0] != "C" for c in cleaned)
    cleaned.encode()


def test_long_names_are_shortened_in_the_middle():
    name = plain("head_" + "x" * 5000 + "_tail", 40)
    assert len(name) == 40
    assert name.startswith("head_")
    assert name.endswith("_tail")


@given(st.text() | st.sampled_from(HOSTILE))
def test_markdown_text_says_the_same_and_means_nothing(text):
    """GitHub's own parser shows the text as it is, on a line of its own and in a table."""
    said = plain(text)
    for line in (escaped(text), f"| a |\n| --- |\n| {escaped(text)} |"):
        page = as_github(line)
        own = {"p", "table", "thead", "tbody", "tr", "th", "td"}
        assert set(re.findall(r"<([a-z]+)", page)) <= own
        shown = html.unescape(re.sub(r"<[^>]*>", "", page)).replace("\u200b", "")
        assert shown.split() == (said.split() if line == escaped(text) else ["a", *said.split()])
    # People, issues, addresses and emoji, which GitHub finds in the finished page.
    later = html.unescape(as_github(escaped(text)))
    assert not re.search(r"@[\w-]|#\d|://|www\.[^\u200b]|(?<!:):[a-z]\w*:(?!:)", later)
    for line in (code(text), f"| a |\n| --- |\n| {table_code(text)} |"):
        codes = re.findall(r"<code>(.*?)</code>", as_github(line), re.DOTALL)
        assert [html.unescape(one) for one in codes] == ([plain(text, 120)] if said else [])


def test_names_are_not_notified():
    """GitHub reads the finished HTML, where an escaped @ is an @ again."""
    assert "@someone" not in html.unescape(escaped("@someone"))
    assert code("@someone") == "`@someone`", "nobody is notified from code"


def test_the_sentence_says_whose_figures_it_tells_where_there_are_several():
    causes = ("lead_in", "host", "launch", "sync", "device", "tail", "unlinked")
    metrics = group().metrics | {f"gaps_ns.{cause}": stat(0) for cause in causes}
    first, second = group(metrics=metrics), group(metrics=metrics, pid=2)
    decode = group("decode", metrics=metrics)
    assert "(process" not in analysis_sentence(analysis((first, decode)))
    said = analysis_sentence(analysis((first, second, decode)))
    assert "per prefill step (process 1, device 0; first of 2), GPU idle 84.7%" in said
