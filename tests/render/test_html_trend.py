"""The page of a figure over runs: a line for each variant, gaps where a figure is unknown."""

from __future__ import annotations

import json
import re

from test_trend import series

from launchlens.records.trend import TrendPoint
from launchlens.render.html import render_trend_html
from launchlens.render.html_trend import trend_page


def figure(items):
    (block,) = trend_page(items).blocks
    return block.figures[0]


def test_a_line_for_each_variant_in_milliseconds():
    eager = series([47_400_000, 48_300_000, None, 4_670_000])
    captured = series([4_670_000], variant="cudagraph")
    drawn = figure([eager, captured])
    lines = {line["name"]: (line["x"], line["y"]) for line in drawn.data}
    assert lines == {"eager": ([0, 1, 2, 3], [47.4, 48.3, None, 4.67]), "cudagraph": ([0], [4.67])}
    assert not any(line["connectgaps"] for line in drawn.data)
    assert len({line["marker"]["symbol"] for line in drawn.data}) == 2


def test_the_table_has_every_run_and_says_unknown():
    table = figure([series([47_400_000, None]), series([1], variant="other")]).table
    assert [row.title for row in table.rows] == [
        "2026-11-01 1111111 (run1)",
        "2026-11-02 2222222+ (run2)",
    ]
    assert [[c.text for c in row.cells] for row in table.rows] == [
        ["47.4 ms", "1 ns"],
        ["unknown", "unknown"],
    ]


def test_intervals_are_bars_around_the_median():
    point = TrendPoint("run1", "2026-11-01T12:00:00+00:00", None, None, 10e6, 8e6, 13e6)
    made = series([1])
    made = type(made)(**{**{n: getattr(made, n) for n in made.__slots__}, "points": (point,)})
    bars = figure([made]).data[0]["error_y"]
    assert (bars["array"], bars["arrayminus"]) == ([3.0], [2.0])


def test_other_shapes_have_a_section_of_their_own():
    page = trend_page([series([1]), series([2], shape="ISL 512"), series([3], phase="decode")])
    assert len(page.blocks) == 3
    assert len({f.id for block in page.blocks for f in block.figures}) == 3


def test_tiles_show_the_first_and_the_last_known():
    (tile,) = trend_page([series([47_400_000, 4_670_000, None])]).tiles
    assert [value.text for value in tile.sides] == ["47.4 ms", "4.67 ms"]
    assert trend_page([series([None])]).tiles == ()


def test_the_page_leads_with_each_lines_course():
    page = trend_page([series([47_400_000, 46_000_000]), series([None], variant="cudagraph")])
    assert page.sentences == (
        "untraced_ns of qwen3-0.6b, eager, prefill step: 47.4 ms → 46.0 ms (−3.0%) over 2 runs",
        "untraced_ns of qwen3-0.6b, cudagraph, prefill step: unknown in 1 run",
    )
    many = [series([1], variant=f"v{i}") for i in range(5)]
    assert trend_page(many).sentences == ("untraced_ns: 5 lines, 1 runs",)


def test_few_runs_are_named_below_the_axis_of_many():
    layout = figure([series(range(1, 30))]).layout["xaxis"]
    assert len(layout["tickvals"]) == len(layout["ticktext"]) <= 5
    assert layout["tickvals"][-1] == 28


def test_hostile_names_do_nothing():
    name = "</script><img src=x onerror=alert(1)>"
    text = render_trend_html([series([1, 2], model=name, variant=name, shape=name)])
    assert "<img src=x" not in text
    found = re.search(r'id="report-data">(.*?)</script>', text, re.DOTALL)
    (drawn,) = json.loads(found[1])["figures"]
    assert drawn["data"][0]["name"] == "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"
