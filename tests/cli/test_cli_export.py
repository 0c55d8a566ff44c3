"""`launchlens export`: files for ui.perfetto.dev, data frames, and github-action-benchmark."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from stored_runs import EAGER, NODE, SPANS, TRACES

EXPECTED = json.loads((TRACES / "expected.json").read_text(encoding="utf-8"))
MISSING = TRACES / "gemma-3n-cudagraph.default-mode.nsys2023.4.sqlite.xz"


def test_perfetto_takes_the_median_step(cli, tmp_path):
    out = tmp_path / "step.json"
    code, said, err = cli("export", NODE, "--perfetto", out)
    assert (code, said) == (0, "")
    assert err.endswith(f"wrote {out}\n")
    trace = json.loads(out.read_text(encoding="utf-8"))
    windows = sorted(step["window_ns"] for step in EXPECTED[NODE.name])
    assert trace["otherData"]["window_ns"] == windows[(len(windows) - 1) // 2]
    kernels = [e for e in trace["traceEvents"] if e.get("cat") == "stream,kernel"]
    assert len(kernels) == 1723  # graph nodes of a step (traces/ card)


@pytest.mark.parametrize("number", [0, 3])
def test_perfetto_takes_the_step_named(cli, tmp_path, number):
    out = tmp_path / "step.json"
    code, _, err = cli("export", EAGER, "--perfetto", out, "--step", number)
    assert code == 0
    told = json.loads(out.read_text(encoding="utf-8"))["otherData"]
    assert told["step"] == number
    assert told["window_ns"] == EXPECTED[EAGER.name][number]["window_ns"]
    assert err.startswith(f"step {number} (prefill): ")


def test_steps_that_are_not_there_or_cannot_be_drawn(fails, tmp_path):
    to = ("--perfetto", tmp_path / "step.json")
    assert "There are 0 to 7." in fails("export", EAGER, *to, "--step", 8, code=2)
    assert "has no step to export: " in fails("export", MISSING, *to)
    assert "Step 1 cannot be exported: " in fails("export", MISSING, *to, "--step", 1)
    assert list(tmp_path.iterdir()) == []


def test_parquet_has_every_figure_of_every_step(cli, tmp_path):
    out = tmp_path / "steps.parquet"
    assert cli("export", EAGER, "--parquet", out)[0] == 0
    frame, expected = pd.read_parquet(out), pd.json_normalize(EXPECTED[EAGER.name])
    assert len(frame) == len(expected) == 8
    for name in (
        "kernel_launches",
        "kernels",
        "window_ns",
        "busy_ns",
        "gaps_ns.host",
        "gaps_ns.sync",
    ):
        assert list(frame[name]) == list(expected[name])


def test_csv_of_analyze_has_every_figure_of_every_step(cli, tmp_path):
    out = tmp_path / "steps.csv"
    assert cli("analyze", EAGER, "--format", "csv", "-o", out)[0] == 0
    assert cli("export", EAGER, "--parquet", tmp_path / "steps.parquet")[0] == 0
    frame = pd.read_csv(out)
    assert list(frame.columns) == list(pd.read_parquet(tmp_path / "steps.parquet").columns)
    assert list(frame["window_ns"]) == [step["window_ns"] for step in EXPECTED[EAGER.name]]


def test_benchmark_of_one_trace_and_of_several(cli, tmp_path):
    out = tmp_path / "benchmark.json"
    cli("export", NODE, "--github-benchmark", out)
    alone = {e["name"]: e for e in json.loads(out.read_text(encoding="utf-8"))}
    launches = alone["qwen3-0.6b-cudagraph · prefill · launches"]
    assert (launches["value"], launches["unit"]) == (1, "count")
    assert all(set(e) >= {"name", "unit", "value"} for e in alone.values())
    cli("export", EAGER, NODE, "--github-benchmark", out)
    both = {e["name"]: e for e in json.loads(out.read_text(encoding="utf-8"))}
    assert both["qwen3-0.6b-eager · prefill · launches"]["value"] == 1569
    assert {name: both[name] for name in alone} == alone


def test_benchmark_of_a_run_has_untraced_times_and_throughput(cli, tmp_path, stored):
    out = tmp_path / "benchmark.json"
    command = ("export", "latest:cudagraph", "--runs", stored, "--github-benchmark", out)
    cli(*command)
    values = {e["name"]: e["value"] for e in json.loads(out.read_text(encoding="utf-8"))}
    assert values["qwen3-0.6b-cudagraph · prefill · untraced_ns"] == 4_500_000
    cli(*command, "--bigger-is-better")
    entries = json.loads(out.read_text(encoding="utf-8"))
    assert {e["value"] for e in entries} == {11.9, 59.5}


def test_several_files_at_once(cli, tmp_path, stored):
    names = [tmp_path / name for name in ("a.json", "b.parquet", "c.json")]
    options = zip(("--perfetto", "--parquet", "--github-benchmark"), names, strict=True)
    flat = [word for pair in options for word in pair]
    code, _, err = cli("export", "latest:eager", "--runs", stored, *flat)
    assert code == 0
    assert [line for line in err.splitlines() if line.startswith("wrote")] == [
        f"wrote {name}" for name in names
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((EAGER,), "needs to be told what to write"),
        ((EAGER, NODE, "--parquet", "out"), "take one trace"),
        ((EAGER, "--step", "1", "--parquet", "out"), "Add --perfetto"),
        ((EAGER, "--bigger-is-better", "--parquet", "out"), "is for --github-benchmark"),
    ],
)
def test_what_makes_no_sense(fails, monkeypatch, tmp_path, options, said):
    monkeypatch.chdir(tmp_path)
    assert said in fails("export", *options, code=2)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_or_exported(cli, fails, stored, tmp_path):
    code, _, err = cli("export", SPANS, "--parquet", tmp_path / "no" / "out")
    assert (code, "Choose another --parquet." in err) == (1, True)
    said = fails("export", "20261201:breakable", "--runs", stored, "--parquet", tmp_path / "out")
    assert "left no trace to export" in said
