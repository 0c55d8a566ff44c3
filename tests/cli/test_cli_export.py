"""`launchlens export`: files for ui.perfetto.dev, data frames, and github-action-benchmark."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from pyarrow import parquet
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
    assert trace["otherData"]["steps"][0]["window_ns"] == windows[(len(windows) - 1) // 2]
    kernels = [e for e in trace["traceEvents"] if e.get("cat") == "stream,kernel"]
    assert len(kernels) == 1723  # graph nodes of a step (traces/ card)
    calls = {e["args"]["correlation_id"] for e in kernels}
    (launch,) = [e for e in trace["traceEvents"] if e["name"].startswith("cudaGraphLaunch")]
    assert calls == {launch["args"]["correlation_id"]}
    arrows = [e for e in trace["traceEvents"] if e["ph"] == "f"]
    assert len(arrows) >= len(kernels)  # memsets and copies of the graph have theirs too


def test_perfetto_takes_steps_by_pattern_and_keeps_their_phase(cli, tmp_path):
    out = tmp_path / "step.json"
    named = ("--step", "^prefill", "--phase", "prefill", "--index", 5)
    code, _, err = cli("export", EAGER, "--perfetto", out, *named)
    assert (code, err.splitlines()[0]) == (0, "step 5 (prefill): prefill#5")


def overlapping(bars):
    """Bars of one thread that neither follow nor hold one another: viewers drop these."""
    found, ends = [], []
    for bar in sorted(bars, key=lambda e: (e["ts"], -e["dur"])):
        start = round(bar["ts"] * 1000)
        end = start + bar["args"]["duration_ns"]
        while ends and ends[-1] <= start:
            ends.pop()
        if ends and end > ends[-1]:
            found.append(bar)
        ends.append(end)
    return found


def test_several_traces_stand_side_by_side(cli, tmp_path):
    out = tmp_path / "steps.json"
    code, _, err = cli("export", EAGER, NODE, "--perfetto", out)
    assert code == 0
    assert [line.partition(":")[0] for line in err.splitlines()[:2]] == [
        "qwen3-0.6b-eager", "qwen3-0.6b-cudagraph"
    ]  # fmt: skip
    events = json.loads(out.read_text("utf-8"))["traceEvents"]
    threads = {}
    for event in events:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append(event)
    assert {pid for pid, _ in threads} == {1, 2, 3, 4}
    assert [bar for bars in threads.values() for bar in overlapping(bars)] == []
    # of the eager step each operation has its arrow: kernels, copies and memsets, as SQL has them
    step = EXPECTED[EAGER.name][0]
    ops = step["kernels"] + step["memcpys"] + step["memsets"]
    assert len([e for e in events if e["ph"] == "f" and e["pid"] == 2]) == ops
    names = {e["name"] for e in events if e.get("cat") == "stream,kernel"}
    assert max(map(len, names)) <= 64


@pytest.mark.parametrize("number", [0, 3])
def test_perfetto_takes_the_step_named(cli, tmp_path, number):
    out = tmp_path / "step.json"
    code, _, err = cli("export", EAGER, "--perfetto", out, "--index", number)
    assert code == 0
    told = json.loads(out.read_text(encoding="utf-8"))["otherData"]["steps"][0]
    assert told["step"] == number
    assert told["window_ns"] == EXPECTED[EAGER.name][number]["window_ns"]
    assert err.startswith(f"step {number} (prefill): ")


def test_an_export_replaces_an_earlier_one(cli, tmp_path):
    """It is Chrome trace JSON, as torch.profiler's are, and no trace all the same."""
    out = tmp_path / "step.json"
    for number in (0, 3):
        assert cli("export", EAGER, "--perfetto", out, "--index", number)[0] == 0
    assert json.loads(out.read_text(encoding="utf-8"))["otherData"]["steps"][0]["step"] == 3


def test_steps_that_are_not_there_or_cannot_be_drawn(fails, tmp_path):
    to = ("--perfetto", tmp_path / "step.json")
    assert "There are 0 to 7." in fails("export", EAGER, *to, "--index", 8, code=2)
    said = fails("export", MISSING, *to)
    assert "has no step to export: " in said
    assert ".." not in said
    assert "Step 1 cannot be exported: " in fails("export", MISSING, *to, "--index", 1)
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


def test_parquet_of_several_traces_has_their_medians(cli, tmp_path):
    out = tmp_path / "medians.parquet"
    assert cli("export", EAGER, NODE, "--parquet", out)[0] == 0
    frame = pd.read_parquet(out)
    launches = frame[frame.metric == "kernels"].set_index("side").value
    assert dict(launches) == {"qwen3-0.6b-eager": 1569, "qwen3-0.6b-cudagraph": 1723}


def test_parquet_of_what_is_unknown_keeps_its_types(cli, tmp_path):
    """Files of a trace that tells all and of one that does not can be read as one data set."""
    files = [tmp_path / "known.parquet", tmp_path / "unknown.parquet"]
    for trace, file in zip((EAGER, MISSING), files, strict=True):
        assert cli("export", trace, "--parquet", file)[0] == 0
    known, unknown = (parquet.read_schema(file) for file in files)
    assert known == unknown
    assert str(unknown.field("busy_ns").type) == "int64"
    assert str(unknown.field("idle").type) == "double"
    assert str(known.field("unknown_reason").type) == "string"
    assert pd.read_parquet(files[1]).busy_ns.isna().all()


def test_a_dash_is_standard_output(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = cli("export", EAGER, "--perfetto", "-", "--index", 0)
    assert (code, json.loads(out)["otherData"]["steps"][0]["step"]) == (0, 0)
    assert cli("diff", EAGER, NODE, "-o", "-")[1] == cli("diff", EAGER, NODE)[1]
    assert list(tmp_path.iterdir()) == []


def test_an_empty_benchmark_is_refused(fails, tmp_path):
    out = ("--github-benchmark", tmp_path / "out")
    assert "no throughput to export" in fails("export", EAGER, *out, "--bigger-is-better")
    assert list(tmp_path.iterdir()) == []


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
    launches = alone["qwen3-0.6b-cudagraph · prefill · launches per step"]
    assert (launches["value"], launches["unit"]) == (1, "count")
    assert all(set(e) >= {"name", "unit", "value"} for e in alone.values())
    cli("export", EAGER, NODE, "--github-benchmark", out)
    both = {e["name"]: e for e in json.loads(out.read_text(encoding="utf-8"))}
    assert both["qwen3-0.6b-eager · prefill · launches per step"]["value"] == 1569
    assert {name: both[name] for name in alone} == alone


def test_benchmark_of_a_run_has_untraced_times_and_throughput(cli, tmp_path, stored):
    out = tmp_path / "benchmark.json"
    command = ("export", "latest:cudagraph", "--runs", stored, "--github-benchmark", out)
    cli(*command)
    values = {e["name"]: e["value"] for e in json.loads(out.read_text(encoding="utf-8"))}
    assert values["qwen3-0.6b-cudagraph · prefill · step, untraced"] == 4.5
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
        ((EAGER, "--index", "1", "--parquet", "out"), "Add --perfetto"),
        ((EAGER, "--step", "1", "--perfetto", "out"), "The number of a step is --index 1."),
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
