"""`launchlens runs list|show|rm|trend` on stored runs."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys

import pytest
from stored_runs import COMMIT, EAGER, make_run

from launchlens import store


def test_list_shows_the_newest_first(cli, stored):
    code, out, err = cli("runs", "list", "--runs", stored)
    assert (code, err) == (0, "")
    header, *lines = out.splitlines()
    assert header.split()[:4] == ["run", "status", "variants", "commit"]
    days = [line[:8] for line in lines if line[:1] == "2"]
    assert days == ["20261202", "20261201", "20261130"]
    assert re.search(r"^20261130-\S+ +complete +eager, cudagraph +abc123d$", out, re.M)
    assert re.search(r"^20261201-\S+ .* bbbbbbb\+$", out, re.M)
    assert "(failed)" in out


@pytest.mark.parametrize("columns", [60, 80, 100, 140])
def test_names_of_runs_are_never_cut(cli, stored, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    out = cli("runs", "list", "--runs", stored)[1]
    assert max(map(len, out.splitlines())) <= columns
    for row in store.list_runs(stored):
        assert f"{row.id} " in out
    assert ("NVIDIA H200" in out) == (columns >= 100)


def test_list_as_json(cli, stored):
    report = json.loads(cli("runs", "list", "--runs", stored, "--format", "json")[1])
    assert report["schema"] == "launchlens.runs/1"
    newest, middle, _ = report["runs"]
    assert (newest["git_commit"], newest["git_dirty"]) == ("c" * 40, False)
    assert (middle["failed"], middle["missing"]) == (["breakable"], False)


def test_no_runs_is_an_answer(cli, tmp_path):
    code, out, _ = cli("runs", "list", "--runs", tmp_path / "none")
    assert code == 0
    assert out == f"There are no runs in {tmp_path}/none. `launchlens profile` makes one.\n"
    assert not (tmp_path / "none").exists()


def test_a_folder_that_is_gone_is_told(cli, tmp_path):
    run = make_run(tmp_path, with_traces=False)
    shutil.rmtree(run.folder)
    assert "folder gone" in cli("runs", "list", "--runs", tmp_path)[1]


def test_show_tells_everything(cli, stored):
    code, out, err = cli("runs", "show", "20261201", "--runs", stored)
    assert (code, err) == (0, "")
    run = store.resolve_run(stored, "20261201")
    assert out.splitlines()[0] == run.id
    assert f"{'b' * 40}, with files changed" in out
    for fact in ("complete", "2026-12-01T12:00:00+00:00", "NVIDIA H200", "580.159.04", "2.9.0"):
        assert fact in out
    assert re.search(r"^eager +ok +48.3 ms +1.00 GiB +node$", out, re.M)
    assert re.search(r"^cudagraph +ok +4.67 ms +1.00 GiB +node, graph$", out, re.M)
    assert re.search(r"^breakable +failed +not measured ", out, re.M)
    assert "breakable could not be captured at modeling.py:17: Cannot copy between" in out
    assert f"  {run.id}:eager  node  {run.folder}/traces/eager.node.sqlite.xz\n" in out
    assert "\n  # eager: node\n  nsys profile --trace=cuda,nvtx 'a program'\n" in out


def test_show_as_json(cli, stored):
    report = json.loads(cli("runs", "show", "latest", "--runs", stored, "-f", "json")[1])
    assert report["schema"] == "launchlens.stored-run/1"
    assert report["environment"]["git_commit"] == "c" * 40
    variant = report["variants"]["cudagraph"]
    assert variant["facts"]["untraced"][0]["wall_ns"]["median"] == 4_500_000
    assert variant["traces"]["graph"]["file"].endswith("traces/cudagraph.graph.sqlite.xz")


def test_show_of_an_unknown_run(fails, stored):
    assert "There is no run 'nope'" in fails("runs", "show", "nope", "--runs", stored)


def test_rm_removes_the_folder_and_the_row(cli, tmp_path):
    first, second = (make_run(tmp_path, day=day, with_traces=False) for day in (0, 1))
    code, out, _ = cli("runs", "rm", "--yes", first.id, "20261201", "--runs", tmp_path)
    assert (code, out) == (0, f"removed {first.id}\nremoved {second.id}\n")
    assert store.list_runs(tmp_path) == ()
    assert not first.folder.exists()


class Terminal(io.StringIO):
    """Standard input with somebody in front of it."""

    def isatty(self):
        return True


@pytest.mark.parametrize(("answer", "left"), [("y\n", 0), ("n\n", 1), ("\n", 1)])
def test_rm_asks_in_a_terminal(cli, tmp_path, monkeypatch, answer, left):
    run = make_run(tmp_path, with_traces=False)
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    code, out, err = cli("runs", "rm", run.id[:8], "--runs", tmp_path)
    assert code == 0
    assert f"Remove {run.id} for good? [y/N]: " in out + err
    assert len(store.list_runs(tmp_path)) == left


def test_rm_does_not_guess_where_nobody_answers(fails, tmp_path, monkeypatch):
    run = make_run(tmp_path, with_traces=False)
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert "Add --yes" in fails("runs", "rm", run.id, "--runs", tmp_path, code=2)
    assert run.folder.exists()


def test_rm_refuses_a_running_run(fails, tmp_path):
    with store.create_run(tmp_path, model="m", arguments={}) as run:
        assert "is still running" in fails("runs", "rm", "-y", run.id, "--runs", tmp_path)
        assert run.folder.exists()


def test_rm_refuses_several_and_none(fails, stored):
    assert "several" in fails("runs", "rm", "-y", "2026", "--runs", stored)
    assert "is not there" in fails("runs", "rm", "-y", "latest", "--runs", stored)
    assert "is not there" in fails("runs", "rm", "-y", "../runs", "--runs", stored)


def test_trend_in_the_terminal(cli, stored):
    code, out, _ = cli("runs", "trend", "untraced_ns", "--variant", "eager", "--runs", stored)
    assert code == 0
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[2:] == [
        "  47.4 ms → 40.3 ms (−15.0%) over 3 runs, between 40.3 ms and 48.3 ms",
        "  ▇█▁",
        "  2026-11-30  abc123d        47.4 ms",
        "  2026-12-01  bbbbbbb+       48.3 ms  +1.9%",
        "  2026-12-02  ccccccc        40.3 ms  −16.6%",
    ]


def test_trend_choices(cli, stored):
    args = ("runs", "trend", "launches", "--runs", stored, "--format", "json")
    everything = json.loads(cli(*args)[1])
    assert everything["schema"] == "launchlens.trend/1"
    assert {(s["variant"], s["source"]) for s in everything["series"]} == {
        ("eager", "node"), ("cudagraph", "node"), ("cudagraph", "graph"),
    }  # fmt: skip
    (series,) = json.loads(cli(*args, "--variant", "eager", "--limit", "2")[1])["series"]
    assert [p["git_commit"][0] for p in series["points"]] == ["b", "c"]
    assert [p["value"] for p in series["points"]] == [1569, 1569]
    (series,) = json.loads(cli(*args, "--variant", "eager", "--phase", "prefill")[1])["series"]
    assert series["points"][0]["git_commit"] == COMMIT


def test_trend_that_is_not_there(fails, stored):
    assert "Did you mean untraced_ns?" in fails(
        "runs", "trend", "untraced", "--runs", stored, code=2
    )
    assert "for phase decode" in fails(
        "runs", "trend", "idle", "--phase", "decode", "--runs", stored
    )
    assert "There are no runs" in fails("runs", "trend", "idle", "--runs", EAGER.parent)


def test_trend_as_html(cli, stored, tmp_path):
    page = tmp_path / "trend.html"
    code, out, err = cli("runs", "trend", "untraced_ns", "--runs", stored, "-f", "html", "-o", page)
    assert (code, out, err) == (0, "", f"wrote {page}\n")
    text = page.read_text(encoding="utf-8")
    assert "eager, prefill step: 47.4 ms → 40.3 ms (−15.0%) over 3 runs" in text
    tips = re.findall(r'data-tip="2026-[^"(]*\([^)]*\), ([^",]*, [\d.]+ ms)', text)
    assert tips == [
        *("eager, 47.4 ms", "eager, 48.3 ms", "eager, 40.3 ms"),
        *("cudagraph, 4.67 ms", "cudagraph, 4.67 ms", "cudagraph, 4.50 ms"),
    ]
    assert "2026-12-01 bbbbbbb+" in text
