"""``launchlens scrub --steps``: a small file, in which the figures of the steps stay."""

import json
import sys
from pathlib import Path

import pytest
from typed import run

TRACES = Path(__file__).parents[2] / "traces"
REAL = [
    "qwen3-0.6b-eager.nsys2025.3",
    "gemma-4-e4b-breakable.node.nsys2025.3",
    "profile-qwen3-0.6b-cudagraph.graph.nsys2025.3",
    "profile-gemma-3n-e4b-both-fixes-eager.node.nsys2025.3",
    "nvtx-domain-ranges.nsys2025.3",
    "trtllm-range-names.nsys2025.3",
    "gemma-3n-cudagraph.default-mode.nsys2023.4",
]


def figures(trace):
    done = run("analyze", trace, "--format", "json")
    assert done.returncode == 0, done.stderr
    return [{k: v for k, v in s.items() if k != "index"} for s in json.loads(done.stdout)["steps"]]


@pytest.mark.parametrize("name", REAL)
def test_figures_of_the_steps_are_those_of_the_whole_trace(name, tmp_path):
    trace, out = TRACES / f"{name}.sqlite.xz", tmp_path / "cut.sqlite"
    done = run("scrub", trace, out, "--steps", "1-2")
    assert done.returncode == 0, done.stderr
    assert figures(out) == figures(trace)[1:3]


def test_the_file_is_small(tmp_path):
    trace, whole, cut = TRACES / f"{REAL[0]}.sqlite.xz", tmp_path / "w.xz", tmp_path / "c.xz"
    assert run("scrub", trace, whole).returncode == 0
    assert run("scrub", trace, cut, "--steps", "3").returncode == 0
    assert len(figures(cut)) == 1
    assert cut.stat().st_size < whole.stat().st_size / 5


def test_steps_may_be_named_by_a_pattern(tmp_path):
    trace, out = TRACES / f"{REAL[0]}.sqlite.xz", tmp_path / "cut.sqlite"
    done = run("scrub", trace, out, "--steps", "0-1", "--step", "prefill#[3-9]")
    assert done.returncode == 0, done.stderr
    assert [s["range"] for s in figures(out)] == ["prefill#3", "prefill#4"]


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ("5-99", "has steps 0 to"),
        ("4-2", "not of the form A-B"),
        ("-1", "not of the form A-B"),
        ("a-b", "not of the form A-B"),
        ("9999999999", "not of the form A-B"),
    ],
)
def test_steps_that_are_not_there_are_refused(steps, said, tmp_path):
    done = run("scrub", TRACES / f"{REAL[0]}.sqlite.xz", tmp_path / "out", f"--steps={steps}")
    assert done.returncode == 2
    assert said in " ".join(done.stderr.replace("│", " ").split())
    assert list(tmp_path.iterdir()) == []


def test_a_cut_that_would_change_a_figure_is_refused(tmp_path, monkeypatch, capsys):
    from launchlens.cli.main import main
    from launchlens.trace.formats.nsys import scrub

    def cut_too_much(connection, columns, excerpt):
        cut(connection, columns, excerpt)
        kernels = "CUPTI_ACTIVITY_KIND_KERNEL"
        connection.execute(
            f"DELETE FROM {kernels} WHERE rowid = (SELECT max(rowid) FROM {kernels})"
        )

    cut = scrub.cut_export
    monkeypatch.setattr(scrub, "cut_export", cut_too_much)
    trace, out = TRACES / f"{REAL[0]}.sqlite.xz", tmp_path / "out.sqlite"
    arguments = ["launchlens", "scrub", str(trace), str(out), "--steps", "1"]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert "kernels" in said
    assert "nothing was written" in said
    assert list(tmp_path.iterdir()) == []
