"""The public Python API: a trace, its figures as DataFrames, a comparison."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import launchlens
from launchlens.records.comparison import SideInput

TRACES = Path(__file__).parents[1] / "traces"
NAMES = (
    "qwen3-0.6b-eager.nsys2025.3.sqlite.xz",
    "qwen3-0.6b-cudagraph.node.nsys2025.3.sqlite.xz",
    "gemma-3n-cudagraph.default-mode.nsys2023.4.sqlite.xz",
)
EXPECTED = json.loads((TRACES / "expected.json").read_text())


@pytest.fixture(scope="module")
def analyses():
    return [launchlens.summarize(launchlens.read_trace(TRACES / name)) for name in NAMES]


def test_public_names():
    assert dir(launchlens) == sorted(launchlens.__all__)
    for name in launchlens.__all__:
        assert getattr(launchlens, name).__doc__
    with pytest.raises(AttributeError, match="nothing"):
        launchlens.nothing  # noqa: B018


def test_paths_may_be_text():
    assert launchlens.read_trace(str(TRACES / NAMES[1])).info.label == "qwen3-0.6b-cudagraph"


def test_errors_are_catchable_by_the_public_name():
    with pytest.raises(launchlens.LaunchlensError, match="no such file"):
        launchlens.read_trace("missing.sqlite")


@pytest.mark.parametrize("number", range(len(NAMES)))
def test_steps_as_a_frame(analyses, number):
    frame = analyses[number].steps_frame()
    expected = pd.json_normalize(EXPECTED[NAMES[number]])
    assert len(frame) == len(expected)
    for column in set(expected.columns) & set(frame.columns):
        for found, stated in zip(frame[column], expected[column], strict=True):
            if pd.isna(stated):
                assert pd.isna(found), column
            else:
                exact = isinstance(stated, str)
                assert found == (stated if exact else pytest.approx(stated, abs=1e-6)), column


def test_gaps_have_a_column_each(analyses):
    frame = analyses[0].steps_frame()
    gaps = frame.filter(like="gaps_ns.")
    assert list(gaps.columns) == [
        f"gaps_ns.{c}" for c in ("lead_in", "host", "launch", "sync", "device", "tail", "unlinked")
    ]
    assert (gaps.sum(axis=1) == frame["window_ns"] - frame["busy_ns"]).all()


def test_summary_as_a_frame(analyses):
    frame = analyses[0].summary_frame().set_index("metric")
    steps = analyses[0].steps_frame()
    assert frame.loc["window_ns", "median"] == round(steps["window_ns"].median())
    assert frame.loc["idle", "p90"] == pytest.approx(steps["idle"].quantile(0.9))
    assert set(frame.columns) >= {"phase", "pid", "device", "median", "ci_low", "ci_high", "n"}


def test_choices_are_those_of_the_command_line(analyses):
    trace = launchlens.read_trace(TRACES / NAMES[0])
    (group,) = launchlens.summarize(trace, phase="prefill", skip=3).summary
    assert (group.steps, group.dropped) == (len(analyses[0].steps) - 3, 3)
    (whole,) = launchlens.summarize(trace, whole=True).steps
    assert whole.kernels > 1569
    (one, *_) = launchlens.summarize(trace, step=r"#2$").steps
    assert one.range == "prefill#2"


def test_a_comparison_as_a_frame(analyses):
    made = launchlens.compare(analyses, title="a title")
    frame = made.frame()
    launches = frame[frame["metric"] == "launches"].set_index("side")
    assert list(launches["value"]) == [1569, 1, 1]
    assert list(launches["verdict"]) == ["neutral", "better", "better"]
    idle = frame[frame["metric"] == "idle"].set_index("side")
    assert idle.loc["gemma-3n-cudagraph.default-mode", "verdict"] == "unknown"
    assert made.title == "a title"


def test_sides_may_bring_their_own_label(analyses):
    made = launchlens.compare([analyses[0], SideInput("mine", analyses[1])])
    assert [s.label for s in made.sides] == ["qwen3-0.6b-eager", "mine"]


def test_one_side_is_no_comparison(analyses):
    with pytest.raises(launchlens.LaunchlensError, match="baseline and at least one candidate"):
        launchlens.compare(analyses[:1])
