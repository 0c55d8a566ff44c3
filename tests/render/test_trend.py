"""A figure over runs: sparkline, text, records."""

from __future__ import annotations

import pytest

from launchlens.model.trend import TrendPoint, TrendSeries
from launchlens.render.trend import render_trend, sparkline, trend_records


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ([], ""),
        ([5], "▄"),
        ([5, 5, 5], "▄▄▄"),
        ([0, 1, 2, 3, 4, 5, 6, 7], "▁▂▃▄▅▆▇█"),
        ([7, None, 0], "█·▁"),
        ([None, None], "··"),
        ([-1, 0, 1], "▁▅█"),
    ],
)
def test_sparkline(values, line):
    assert sparkline(values) == line


def series(values, **changes):
    points = []
    before = None
    for day, value in enumerate(values, 1):
        relative = value / before - 1 if before and value is not None else None
        points.append(
            TrendPoint(
                run_id=f"run{day}",
                created=f"2026-11-{day:02}T12:00:00+00:00",
                git_commit=f"{day:x}" * 40,
                git_dirty=day == 2,
                value=value,
                relative=relative,
            )
        )
        before = value or before
    settings = {
        "metric": "untraced_ns",
        "unit": "ns",
        "model": "qwen3-0.6b",
        "variant": "eager",
        "gpu": "NVIDIA H200",
        "shape": "ISL 25, batch 1, bfloat16",
        "phase": "prefill",
        "source": "untraced",
    }
    return TrendSeries(**settings | changes, points=tuple(points))


def test_trend_as_text():
    text = render_trend([series([47_400_000, 48_300_000, None, 4_670_000])])
    assert text.splitlines() == [
        "untraced_ns: qwen3-0.6b, eager, prefill, ISL 25, batch 1, bfloat16, NVIDIA H200, untraced",
        "  ██·▁  4.67 ms to 48.3 ms, 4 runs",
        "  2026-11-01  1111111        47.4 ms",
        "  2026-11-02  2222222+       48.3 ms  +1.9%",
        "  2026-11-03  3333333        unknown",
        "  2026-11-04  4444444        4.67 ms  −90.3%",
    ]


def test_only_the_newest_points_are_listed():
    lines = render_trend([series(range(1, 21))]).splitlines()
    assert lines[2] == "  … 12 older"
    assert len(lines) == 3 + 8


def test_unknown_everywhere():
    assert "unknown in all 2 runs" in render_trend([series([None, None])])


def test_hostile_names_stay_on_their_line():
    text = render_trend([series([1, 2], model="a\nb\x1b[31m", variant="x\r\ny")])
    assert len(text.splitlines()) == 4
    assert "\x1b" not in text


def test_records_for_a_plot():
    records = trend_records([series([1, None])])
    assert [(r["run_id"], r["value"], r["unit"]) for r in records] == [
        ("run1", 1, "ns"),
        ("run2", None, "ns"),
    ]
    assert records[0]["series"].startswith("qwen3-0.6b, eager, prefill")
    assert records[1]["commit"] == "2" * 40
