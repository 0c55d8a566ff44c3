"""Forecasts of a run are in its folder before the captured variant is measured, and scored after.

The run is that of tests/cli/recorded/gemma4_requests and its traces, replayed.
"""

from __future__ import annotations

import json

import pytest
from replayed import Machine

VARIANTS = ("eager", "cudagraph", "breakable")
TRACES = {f"{v}.node": f"profile-gemma-4-e4b-osl5-{v}.node" for v in VARIANTS}
MEASURED = {  # medians of the recorded answers, ms
    ("cudagraph", "prefill"): 13.264,
    ("cudagraph", "decode"): 11.015,
    ("breakable", "prefill"): 13.775,
    ("breakable", "decode"): 11.522,
}


@pytest.fixture
def run(cli, monkeypatch, tmp_path):
    """Profiles the variants in an order; returns the folder and what was there when each ran."""

    def profile(*variants):
        machine = Machine("gemma4_requests", TRACES)
        there = {}
        answer = machine._run_plain

        def watch(program, **more):
            done = answer(program, **more)
            there[machine.asked[-1]] = bool(list(tmp_path.rglob("eager.forecast.json")))
            return done

        monkeypatch.setattr(machine, "_run_plain", watch)
        machine.replace_processes(monkeypatch)
        asked = [word for v in variants for word in ("--variant", v)]
        code, _, err = cli(
            *("profile", "--model", "gemma-4-E4B-it", "--osl", "5", "--concurrency", "1,4"),
            *("--graph-trace", "node", *asked, "--runs", tmp_path),
        )
        assert code == 0, err
        return tmp_path, there

    return profile


def test_forecasts_stand_before_the_outcome_and_are_scored_after(run, cli):
    root, there = run(*VARIANTS)
    assert there == {"eager.time": False, "cudagraph.time": True, "breakable.time": True}
    (kept,) = root.rglob("eager.forecast.json")
    written = json.loads(kept.read_text())
    assert written["untraced"][0]["source"] == "measured"
    _, out, _ = cli("forecast", "--score", "--runs", root, "--format", "json")
    score = json.loads(out)
    found = {(o["variant"], o["phase"]): o for o in score["outcomes"]}
    assert set(found) == set(MEASURED)
    for key, ms in MEASURED.items():
        assert found[key]["outcome_ns"] == pytest.approx(ms * 1e6, rel=1e-3)
        assert found[key]["error"] == pytest.approx(found[key]["step_ns"] / ms / 1e6 - 1, abs=1e-3)
        assert found[key]["held"]
    assert score["held"] == 4
    assert score["worst_error"] == max(abs(o["error"]) for o in found.values())
    _, out, _ = cli("forecast", "--score", "--runs", root)
    assert out.startswith("4 forecasts: median error 1.")
    assert "90% intervals held 4 of 4 outcomes" in " ".join(out.split())
    # Rows that are lost come back from the run's folder.
    (root / "runs.db").unlink()
    _, again, _ = cli("forecast", "--score", "--runs", root, "--format", "json")
    assert json.loads(again) == score


def test_what_was_measured_before_is_not_forecast(run, cli):
    root, there = run("cudagraph", "eager", "breakable")
    assert there["cudagraph.time"] is False
    _, out, _ = cli("forecast", "--score", "--runs", root, "--format", "json")
    assert {o["variant"] for o in json.loads(out)["outcomes"]} == {"breakable"}


def test_a_forecast_from_a_stored_run_knows_its_untraced_times(run, cli):
    root, _ = run(*VARIANTS)
    _, out, _ = cli("forecast", "latest:eager", "--runs", root, "--format", "json")
    said = json.loads(out)
    assert [u["source"] for u in said["untraced"]] == ["measured", "measured"]
    assert said["untraced_ns"] == pytest.approx(51.498e6, rel=1e-3)


def test_without_any_there_is_nothing_to_score(cli, tmp_path):
    code, out, _ = cli("forecast", "--score", "--runs", tmp_path)
    assert (code, out) == (
        0,
        "No stored run has a forecast and the measured step that it is of.\n",
    )


def test_a_trace_and_score_exclude_each_other(fails):
    assert "either a trace or --score" in fails("forecast", code=2)
    assert "either a trace or --score" in fails("forecast", "x.sqlite", "--score", code=2)
