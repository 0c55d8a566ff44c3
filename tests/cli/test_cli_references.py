"""What sides of `diff` may be called: traces, runs by name or folder; and what they may not."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from stored_runs import EAGER, NODE, TRACES, make_run

from launchlens import store
from launchlens.records.figures import Analysis
from launchlens.store.files import read_record

FIRST = "qwen3-0.6b-eager → cudagraph: prefill step 47.4 → 4.67 ms, 10× faster, "


@pytest.fixture
def names(stored):
    """Ways to name the oldest run."""
    run = store.resolve_run(stored, "20261130")
    return run.id, run.folder


def diff(cli, stored, reference):
    code, out, err = cli("diff", reference, "20261130:cudagraph", "--runs", stored)
    assert (code, err) == (0, "")
    assert " ".join(out.split()).startswith(FIRST)
    return out


@pytest.mark.parametrize("short", [lambda i: i, lambda i: i[:8], lambda i: i[-3:]])
def test_a_run_by_its_name_beginning_or_end(cli, stored, names, short):
    assert "47.4 → 4.67 ms, 10× faster" in " ".join(
        diff(cli, stored, f"{short(names[0])}:eager").split()
    )


def test_a_run_by_its_folder(cli, stored, names, monkeypatch, tmp_path):
    _, folder = names
    diff(cli, stored, f"{folder}:eager")
    diff(cli, stored, f"{folder}/:eager")
    monkeypatch.chdir(folder.parent.parent)
    diff(cli, stored, f"{folder.parent.name}/{folder.name}:eager")
    monkeypatch.chdir(folder)
    diff(cli, stored, ".:eager")
    elsewhere = tmp_path / "copied run"
    shutil.copytree(folder, elsewhere)
    diff(cli, stored, f"{elsewhere}:eager")


def test_the_newest_run_and_a_folder_of_runs(cli, stored):
    for reference in ("latest:eager", f"{stored}:eager", f"{stored}/:eager"):
        assert "40.3 ms" in cli("diff", reference, NODE, "--runs", stored)[1]


def test_a_run_with_only_one_variant_needs_no_variant(cli, tmp_path):
    with store.create_run(tmp_path, model="m", arguments={}) as run:
        made = make_run(tmp_path / "other")
        stored = store.load_run(made.folder).variants["eager"]
        run.save_variant("eager", "ok", stored.facts)
        trace = run.traces / "eager.sqlite.xz"
        shutil.copyfile(EAGER, trace)
        analysis = read_record(stored.traces["node"].analysis_file, Analysis)
        run.save_steps("eager", "node", trace, analysis)
    for name in (run.id, run.folder):
        assert cli("diff", name, NODE, "--runs", tmp_path)[0] == 0


def test_which_of_several_variants(fails, stored, names):
    for name in names:
        said = fails("diff", name, NODE, "--runs", stored)
        assert f"Which variant of {names[0]} is meant? It has: eager, cudagraph." in said
    said = fails("diff", f"{names[0]}:egaer", NODE, "--runs", stored)
    assert f"The run {names[0]} has no variant egaer." in said


def test_what_is_neither_names_both_and_the_nearest(fails, stored):
    said = fails("diff", "qwne3-0-6b", NODE, "--runs", stored)
    assert f"qwne3-0-6b: no such file, and no stored run in {stored}." in said
    said = fails("diff", "qwen3:eager", NODE, "--runs", stored)
    assert "Did you mean 20261202-120000-qwen3-0-6b-" in said
    near = TRACES / "qwen3-0.6b-eagr.nsys2025.3.sqlite.xz"
    said = fails("diff", near, NODE, "--runs", stored)
    assert f"Did you mean {EAGER} or " in said
    said = fails("diff", TRACES / "gemma-4-e4b-ea", NODE, "--runs", stored)
    assert f"Did you mean {TRACES}/gemma-4-e4b-eager.nsys2025.3.sqlite.xz" in said


def test_nothing_near(fails, tmp_path):
    said = fails("diff", "zzz", NODE, "--runs", tmp_path)
    assert "`launchlens runs list` shows the runs." in said
    assert "Check the path." in fails("diff", "no/where/zzz", NODE, "--runs", tmp_path)
    assert "There is no complete run" in fails("diff", "latest", NODE, "--runs", tmp_path)
    assert "no such file" in fails("diff", "", NODE, "--runs", tmp_path)


def test_a_folder_that_is_neither(fails, tmp_path):
    for name in (tmp_path, f"{tmp_path}:eager"):
        said = fails("diff", name, NODE, "--runs", tmp_path)
        assert "is a folder, neither a trace nor a run nor a folder of runs" in said


def test_a_file_is_a_trace_whatever_its_name(cli, stored, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("latest").symlink_to(EAGER)
    Path("20261130:eager").symlink_to(EAGER)
    for name in ("latest", "20261130:eager"):
        code, out, _ = cli("diff", name, NODE, "--runs", stored)
        assert code == 0
        assert "32.5 → " in out or "(traced)" in out


def test_the_variable_names_the_folder_of_runs(cli, stored, monkeypatch):
    monkeypatch.setenv("LAUNCHLENS_RUNS", os.fspath(stored))
    assert cli("diff", "latest:eager", "latest:cudagraph")[0] == 0


@pytest.mark.parametrize("command", ["analyze", "diff"])
def test_blockers_are_looked_for_when_a_threshold_asks(cli, command):
    trace = TRACES / "gemma-3n-e4b-eager.nsys2025.3.sqlite.xz"
    sides = (NODE, trace) if command == "diff" else (trace,)
    code, out, err = cli(command, *sides, "--fail-on", "blockers")
    assert code == 3
    assert "FAILED: blockers (gemma-3n-e4b-eager): 16; pageable-htod × 16" in err
    assert "Capture blockers were looked for" in out
    assert "Capture blockers were looked for" not in cli(command, *sides)[1]
    sides = (trace, NODE) if command == "diff" else (NODE,)
    assert cli(command, *sides, "--fail-on", "blockers")[0] == 0


def test_a_mistyped_folder(fails, tmp_path):
    near = TRACES.parent / "trases" / EAGER.name
    assert fails("analyze", near).endswith(f"no such file. Did you mean {EAGER}?\n")
    assert f"Did you mean {EAGER}?" in fails("diff", near, NODE, "--runs", tmp_path)
    # the folder is there under a near name, the file is not
    assert "Check the path." in fails("analyze", TRACES.parent / "trases" / "zzz")


def test_every_command_names_what_is_near_a_file(fails, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("step.sqlite", "limits.toml", "report.json", "fix.py", "nsys-2025"):
        (tmp_path / name).write_text("", "utf-8")
    model = ("--model", "qwen3-0.6b", "--device", "cpu")
    for command, code, meant in (
        (("analyze", "stpe.sqlite"), 1, "step.sqlite"),
        (("blockers", "steq.sqlite"), 1, "step.sqlite"),
        (("export", "steq.sqlite", "--parquet", "out"), 1, "step.sqlite"),
        (("scrub", "steq.sqlite", "out.sqlite"), 1, "step.sqlite"),
        (("check", "limit.toml", EAGER), 2, "limits.toml"),
        (("comment", "reports.json", "--repo", "o/r", "--pr", "7", "--dry-run"), 1, "report.json"),
        (("blockers", *model, "--patch", "fux.py"), 1, "fix.py"),
    ):
        assert fails(*command, code=code).endswith(f"Did you mean {meant}?\n"), command
