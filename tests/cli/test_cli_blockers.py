"""``launchlens blockers`` as a user types it: traces, and models without a GPU."""

from __future__ import annotations

import importlib.util
import json
import re
from collections import Counter
from pathlib import Path

import profiled
import pytest
from profiled import launchlens, newest_run
from tiny_model import make_model

TRACES = profiled.ROOT / "traces"
RECORDED = profiled.ROOT / "tests" / "blockers" / "recorded"
GEMMA_3N = TRACES / "gemma-3n-e4b-eager.nsys2025.3.sqlite.xz"
CAPTURED = TRACES / "qwen3-0.6b-cudagraph.graph.nsys2025.3.sqlite.xz"

needs_model = [
    pytest.mark.nsys,
    pytest.mark.torch,
    pytest.mark.skipif(profiled.NSYS is None, reason="needs nsys on PATH"),
    pytest.mark.skipif(
        not all(importlib.util.find_spec(name) for name in ("torch", "transformers")),
        reason="needs torch and transformers",
    ),
]


def lines_with(module_file, text):
    """Numbers of the lines of a source file that hold a text."""
    lines = Path(module_file).read_text("utf-8").splitlines()
    return [number for number, line in enumerate(lines, 1) if text in line]


class TestTrace:
    def test_gemma_3n_has_ten_six_and_two(self, cli):
        code, out, err = cli("blockers", GEMMA_3N)
        assert (code, err) == (0, "")
        assert out.splitlines()[0] == (
            "gemma-3n-e4b-eager: 18 synchronizing copies in each prefill step."
        )
        found = re.findall(r"^(\d+) × ([\w-]+) copy, (\d+) bytes?, (\w+): (.+)$", out, re.MULTILINE)
        assert found == [
            ("10", "host-to-device", "4", "pageable", "likely blocks capture"),
            ("6", "host-to-device", "2", "pageable", "likely blocks capture"),
            ("2", "device-to-host", "1", "pinned", "may block capture (suspected)"),
        ]
        assert "No capture was tried, so these are suspects" in out

    def test_json_has_the_same(self, cli):
        report = json.loads(cli("blockers", GEMMA_3N, "--format", "json")[1])
        assert report["schema"] == "launchlens.blockers/1"
        counts = {
            (f["rule"], f["bytes"]): (f["count_per_step"], f["stable"]) for f in report["findings"]
        }
        assert counts == {
            ("pageable-htod", 2): (6, True),
            ("pageable-htod", 4): (10, True),
            ("dtoh-sync", 1): (2, True),
        }
        assert report["captured"] is False
        needed = {"rule", "confidence", "count_per_step", "stable", "bytes", "source", "stack"}
        assert needed | {"host_ns", "idle_ns", "remedy"} <= set(report["findings"][0])

    def test_markdown_shows_as_itself(self, cli):
        out = cli("blockers", RECORDED / "alloc_in_step.sqlite.xz", "--format", "markdown")[1]
        assert out.startswith("alloc_in_step: 2 findings that may keep the prefill step")
        assert "(`alloc`)" in out

    def test_a_captured_trace_proves_nothing(self, cli):
        code, out, _ = cli("blockers", CAPTURED)
        said = " ".join(out.split())
        assert code == 0
        assert "an eager trace does" in said
        assert "would block the capture" not in said
        assert "suspects" not in said

    def test_a_clean_trace_has_no_suspects(self, cli):
        out = cli("blockers", RECORDED / "clean_mlp.sqlite.xz")[1]
        assert " ".join(out.split()) == (
            "clean_mlp: nothing found that would block the capture of the prefill step."
        )

    @pytest.mark.parametrize(
        ("condition", "code"),
        [("blockers", 3), ("blockers:confirmed", 0), ("blockers>16", 0), ("blockers>15", 3)],
    )
    def test_fail_on(self, cli, condition, code):
        assert cli("blockers", GEMMA_3N, "--fail-on", condition)[0] == code

    @pytest.mark.parametrize(
        ("arguments", "code", "said"),
        [
            ([], 2, "either a trace or --model"),
            ([GEMMA_3N, "--model", "gemma-3n-E4B"], 2, "either a trace or --model"),
            ([GEMMA_3N, "--patch", "fix.py"], 2, "Give it together with --model"),
            (["nothing.sqlite"], 1, "nothing.sqlite: no such file"),
            ([GEMMA_3N, "--fail-on", "launches>5"], 2, "there are only blockers here"),
            (["--model", "gemma-3n-E9B"], 1, "Did you mean gemma-3n-E4B"),
            (["--model", "gemma-3n-E4B", "--patch", "nope.py"], 1, "nope.py does not exist"),
            (["--model", "gemma-3n-E4B", "--fail-on", "idle>1%"], 2, "only blockers here"),
        ],
    )
    def test_bad_input_is_one_sentence_before_anything_runs(
        self, fails, monkeypatch, tmp_path, arguments, code, said
    ):
        monkeypatch.chdir(tmp_path)
        assert said in fails("blockers", *arguments, "--device", "cpu", code=code)
        assert not (tmp_path / "launchlens-runs").exists()


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blockers")
    make_model(folder)
    return folder


@pytest.fixture(scope="module")
def report(home):
    """Gemma 3n with one of its two fixes, as JSON."""
    done = launchlens(
        home, "blockers", "--model", "gemma-3n-E4B-it", "--device", "cpu",
        "--patch", profiled.ROOT / "docs" / "examples" / "gemma3n_altup.py",
        "--format", "json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class TestModelWithoutGpu:
    """Operators that copy or wait, with source lines; the lines are those of the source itself."""

    pytestmark = needs_model

    def test_the_copies_and_their_lines(self, report):
        spec = importlib.util.find_spec("transformers.models.gemma3n.modeling_gemma3n")
        epsilon = lines_with(spec.origin, "epsilon_tensor.to(")
        if len(epsilon) != 2:
            pytest.skip("this transformers has no AltUp copies")
        sparse = lines_with(spec.origin, "torch.tensor(self.activation_sparsity")
        found = {
            (f["count_per_step"], f["bytes"]): (f["source"], f["confidence"])
            for f in report["findings"]
        }
        assert found[6, 2] == (f"modeling_gemma3n.py:{epsilon[0]}/{epsilon[1]}", "suspected")
        assert found[10, 4] == (f"modeling_gemma3n.py:{sparse[0]}", "suspected")
        assert found[2, 1][0].startswith("masking_utils.py:")
        assert len(found) == 3

    def test_the_fix_for_one_leaves_the_other(self, report):
        gone = Counter({f["bytes"]: f["count_per_step"] for f in report["effect"]["gone"]})
        assert gone == {2: 6}
        left = {f["bytes"]: f["count_per_step"] for f in report["patched"]["findings"]}
        assert left == {4: 10, 1: 2}

    def test_nothing_was_captured_and_that_is_said(self, report):
        assert report["attempt"] is None
        assert report["trace"] is None
        assert any("without a GPU nothing was captured" in note for note in report["notes"])

    def test_a_shortened_model_says_so(self, home):
        done = launchlens(
            home, "blockers", "--model", "./tiny-qwen3", "--layers", "1", "--device", "cpu"
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("tiny-qwen3 (1 of 2 layers): 1 synchronizing copy")
        folder, document = newest_run(home)
        assert document["status"] == "complete"
        assert document["arguments"]["command"] == "blockers"
        assert json.loads((folder / "blockers.json").read_text())["label"].endswith(
            "1 of 2 layers)"
        )

    def test_a_patch_that_fails(self, home):
        (home / "broken.py").write_text("raise RuntimeError('line 1727 is not there')\n")
        done = launchlens(
            home, "blockers", "--model", "./tiny-qwen3", "--device", "cpu", "--patch", "broken.py"
        )
        assert done.returncode == 1
        said = done.stderr.strip().splitlines()[-1]
        assert said.startswith("launchlens: listing the step's operators with the patch failed")
        shown = " ".join(done.stdout.split())  # what the unpatched step has is not lost
        assert shown.startswith("tiny-qwen3: ")
        assert "! With broken.py: listing the step's operators with the patch failed" in shown
        assert "RuntimeError: line 1727 is not there." in said
        assert newest_run(home)[1]["status"] == "failed"


def test_what_a_patch_took_away_is_counted_for_each_kind():
    """Hand-counted: 6 + 4 copies of 2 bytes before, 4 after, at the line of the second group."""
    from dataclasses import replace

    from handmade import finding

    from launchlens.workflow.profiling.probing import find_gone

    altup = finding(count=6.0, bytes=2, kinds="HtoD pageable", source="model.py:10")
    other = replace(altup, count_per_step=4.0, source="model.py:20")
    wide = replace(altup, count_per_step=10.0, bytes=4, source="model.py:30")
    gone = find_gone((altup, other, wide), (other, replace(wide, count_per_step=9.0)))
    assert [(f.source, f.count_per_step) for f in gone] == [
        ("model.py:10", 6.0),
        ("model.py:30", 1.0),
    ]
    assert find_gone((altup,), (altup,)) == ()
    assert find_gone((altup, other), ()) == (altup, other)
