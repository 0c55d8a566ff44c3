"""A figure over runs: sparkline and text."""

from __future__ import annotations

import pytest
from written import in_terminal

from launchlens.records.trend import TrendPoint, TrendSeries
from launchlens.render.terminal.blocks import sparkline


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
                change=value - before if before is not None and value is not None else None,
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
    text = in_terminal([series([47_400_000, 48_300_000, None, 4_670_000])])
    assert text.splitlines() == [
        "untraced_ns: qwen3-0.6b, eager, prefill, ISL 25, batch 1, bfloat16, NVIDIA H200, untraced",
        "  47.4 ms → 4.67 ms (−90.1%) over 4 runs, between 4.67 ms and 48.3 ms",
        "  ██·▁",
        "  2026-11-01  1111111        47.4 ms",
        "  2026-11-02  2222222+       48.3 ms  +1.9%",
        "  2026-11-03  3333333        unknown",
        "  2026-11-04  4444444        4.67 ms  −90.3%",
    ]


def test_only_the_newest_points_are_listed():
    lines = in_terminal([series(range(1, 21))]).splitlines()
    assert lines[3] == "  … 12 older"
    assert len(lines) == 4 + 8


def test_unknown_everywhere():
    assert "unknown in 2 runs" in in_terminal([series([None, None])])


def test_hostile_names_stay_on_their_line():
    text = in_terminal([series([1, 2], model="a\nb\x1b[31m", variant="x\r\ny")])
    assert len(text.splitlines()) == 5
    assert "\x1b" not in text


def test_fractions_change_by_points():
    made = series([0.221, 0.171], metric="idle", unit="fraction", source="node")
    lines = in_terminal([made]).splitlines()
    assert "22.1% → 17.1% (−5.0 pp) over 2 runs" in lines[1]
    assert lines[4].endswith("17.1%  −5.0 pp")


def test_a_bound_is_marked_and_has_no_change():
    made = series([0.052, 0.041], metric="idle", unit="fraction", source="graph")
    lines = in_terminal([made]).splitlines()
    assert "≥ 5.2% → ≥ 4.1% over 2 runs" in lines[1]
    assert lines[4].endswith("≥ 4.1%")


def test_a_rise_from_nothing_has_no_per_cent():
    assert "0 → 3 over 2 runs" in in_terminal([series([0, 3], metric="sync_calls", unit="count")])


def test_a_long_sparkline_keeps_the_newest():
    lines = in_terminal([series([9] * 20 + list(range(1, 9)))], width=10).splitlines()
    assert "  ▁▂▃▄▅▆▇█" in lines
