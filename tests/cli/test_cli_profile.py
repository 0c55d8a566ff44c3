"""``launchlens profile`` as a user types it, with a real nsys and a two-layer model on the CPU."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import profiled
import pytest
from profiled import launchlens, newest_run, one_sentence, query
from tiny_model import make_model

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("transformers", reason="needs transformers")

needs_nsys = [
    pytest.mark.nsys,
    pytest.mark.torch,
    pytest.mark.skipif(profiled.NSYS is None, reason="needs nsys on PATH"),
]
H200 = """
from types import SimpleNamespace
NVMLError = OSError
nvmlInit = nvmlShutdown = lambda: None
nvmlSystemGetDriverVersion = lambda: "580.159.04"
nvmlDeviceGetCount = lambda: 1
nvmlDeviceGetHandleByIndex = lambda index: index
nvmlDeviceGetName = lambda device: "NVIDIA H200"
nvmlDeviceGetMemoryInfo = lambda device: SimpleNamespace(total=143771 * 1024**2)
"""
CPU = ("profile", "--device", "cpu", "--dtype", "float32", "--isl", "8")


def documented_variant():
    """The plug-in example of docs/profile.md."""
    page = (profiled.ROOT / "docs" / "profile.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    return next(block for block in blocks if "my_variant.py" in block)


def _heeds_ctrl_c():
    """In a child: shells start background jobs, such as tests, with Ctrl-C ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a model, a documented variant, and patches."""
    folder = tmp_path_factory.mktemp("profile")
    make_model(folder)
    (folder / "my_variant.py").write_text(documented_variant())
    (folder / "fix.py").write_text(
        "def patch(model):\n    print('patched', type(model).__name__)\n"
    )
    (folder / "broken.py").write_text("raise RuntimeError('line 1727 is not there')\n")
    return folder


@pytest.fixture(scope="module")
def run(home):
    """One run with all that a CPU can show: (process, folder, run.json)."""
    process = launchlens(
        home, *CPU, "--model", "./tiny-qwen3", "--layers", "1", "--osl", "3",
        "--concurrency", "1,2", "--patch", "fix.py", "--modules", "--trace-steps", "3",
        "--variant", "cudagraph", "--variant", "eager", "--variant", "my_variant:prepare",
        "--rounds", "2",
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    return process, *newest_run(home)


@pytest.fixture(scope="module")
def compared(home, run):
    """The run's eager and own variant, compared again from the store, as JSON."""
    name = run[2]["id"]
    done = launchlens(
        home, "diff", f"{name}:eager", f"{name}:my_variant:prepare", "--format", "json"
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class TestWholeWay:
    pytestmark = needs_nsys

    def test_the_first_line_says_what_is_known_and_what_is_not(self, home, run):
        first = " ".join(run[0].stdout.split())
        # Which is faster is for the clock to say: the model computes the same in both.
        assert first.startswith(
            ("Fastest: my_variant:prepare, prefill step ", "No candidate is known to be faster ")
        )
        name = run[2]["id"]
        done = launchlens(home, "diff", f"{name}:eager", f"{name}:my_variant:prepare")
        lines = " ".join(done.stdout.split())
        start = "tiny-qwen3 (1 of 2 layers)-eager → my_variant:prepare: "
        assert lines.startswith(start)
        assert re.match(
            r"prefill step .* → .*, (.*× (faster|slower)|.*%)(, inconclusive|, same)? "
            r"\(untraced\); "
            "GPU idle and launches per step unknown",
            lines.removeprefix(start)[:200],
        )

    def test_steps_are_found_in_the_trace(self, run, compared):
        trace = run[1] / "traces" / "eager.none.sqlite"
        ranges = dict(query(trace, profiled.RANGES))
        assert (ranges["prefill"], ranges["decode"]) == (3, 6)
        assert ranges["module:model.layers.0.self_attn"] == 9
        assert "module:model.layers.1.self_attn" not in ranges
        assert {p["phase"]: p["steps"] for p in compared["phases"]} == {
            "prefill": [3, 3],
            "decode": [6, 6],
        }

    def test_device_figures_are_unknown_with_the_reason(self, compared):
        for phase in compared["phases"]:
            rows = {row["metric"]: row["cells"] for row in phase["rows"]}
            for metric in ("launches", "kernels", "idle", "busy_ns", "sync_calls"):
                assert [c["value"] for c in rows.get(metric, [])] in ([], [None, None]), metric
            assert all(c["value"] > 0 for c in rows["untraced_ns"])
        assert any("no CUDA API calls" in note for note in compared["notes"])

    def test_untraced_times_are_those_that_the_child_took(self, run, compared):
        medians = []
        for file in ("eager.time.json", "eager.time-2.json"):
            result = json.loads((run[1] / "results" / file).read_text())
            samples = sorted(result["steps"]["prefill"]["samples_ns"])
            assert len(samples) == 20
            medians.append((samples[9] + samples[10]) / 2)
        rows = {row["metric"]: row["cells"] for row in compared["phases"][0]["rows"]}
        cell = rows["untraced_ns"][0]
        assert cell["value"] == pytest.approx(sum(medians) / 2, abs=2)
        # Two processes: Student's t of one degree of freedom times half their distance.
        half = 12.706 * abs(medians[0] - medians[1]) / 2
        low, high = max(0, sum(medians) / 2 - half), sum(medians) / 2 + half
        assert (cell["ci_low"], cell["ci_high"]) == pytest.approx((low, high), abs=10, rel=1e-4)
        facts = compared["baseline"]["facts"]["untraced"][0]
        assert facts["processes_ns"] == pytest.approx(medians, abs=1)

    def test_sides_take_turns(self, run):
        told = re.findall(r"\] (.*?): \d+\.\d s", run[0].stderr)
        assert [t for t in told if t.endswith("untraced") or "round" in t] == [
            "cudagraph: untraced",
            "eager: untraced",
            "my_variant:prepare: untraced",
            "eager: untraced, round 2",
            "my_variant:prepare: untraced, round 2",
        ]
        assert "Untraced, each side in 2 processes:" in " ".join(run[0].stdout.split())

    def test_what_cannot_be_captured_is_shown_as_failed(self, run):
        process, _, document = run
        assert document["status"] == "complete"
        statuses = {name: v["status"] for name, v in document["variants"].items()}
        assert statuses == {"cudagraph": "error", "eager": "ok", "my_variant:prepare": "ok"}
        assert re.search(
            "cudagraph:? could not be run: The variant cudagraph captures CUDA graphs",
            " ".join(process.stdout.split()),
        )
        assert "eager is the baseline" in process.stderr
        table = [line for line in process.stdout.splitlines() if line.startswith("step, untraced")]
        assert all("failed" in line and "unknown" not in line for line in table)
        footer = process.stdout.partition("Medians over")[2]
        assert footer
        assert " vs " not in footer  # the failed one has no GPU, nsys, or steps to differ in

    def test_that_it_was_shortened_and_patched_is_said_everywhere(self, home, run, compared):
        process, folder, document = run
        shown = launchlens(home, "runs", "show", document["id"]).stdout
        report = (folder / "report.md").read_text("utf-8")
        for text in (process.stdout, report, shown, compared["baseline"]["facts"]["layers_note"]):
            assert "1 of 2 layers" in " ".join(text.split())
        for text in (process.stdout, report, " ".join(compared["remarks"])):
            assert "With the patch fix" in text
        assert document["arguments"]["layers"] == 1
        assert document["arguments"]["device"] == "cpu"
        assert document["arguments"]["trace_steps"] == 3

    def test_that_it_was_shortened_is_said_in_the_list_of_runs(self, home, run):
        out = launchlens(home, "runs", "list", COLUMNS="60").stdout
        mine = " ".join(out.partition(run[2]["id"])[2].split())
        assert "(1 of 2 layers)" in mine

    def test_the_documented_variant_computes_the_same(self, compared):
        found = compared["candidates"][0]["facts"]["equivalence"]
        assert [(e["dtype"], e["identical"]) for e in found] == [
            ("float32, prefill", True),
            ("float32, decode", True),
        ]

    def test_requests_are_timed_at_each_concurrency(self, run, compared):
        requests = compared["baseline"]["facts"]["requests"]
        assert [(r["concurrency"], r["isl"], r["osl"]) for r in requests] == [(1, 8, 3), (2, 8, 3)]
        for r in requests:
            # Requests that arrive together are done after one latency.
            rate = r["concurrency"] * 1e9 / r["latency_ns"]
            assert r["requests_per_s"] == pytest.approx(rate, rel=1e-6)
            assert r["tokens_per_s"] == pytest.approx(3 * rate, rel=1e-6)
            assert r["ttft_ns"] <= r["latency_ns"]
        assert "Requests, untraced (ISL 8, OSL 3)" in run[0].stdout

    def test_the_database_has_all_of_it(self, home, run):
        database, name = home / "runs" / "runs.db", run[2]["id"]
        assert query(database, "PRAGMA integrity_check") == [("ok",)]
        steps = query(
            database,
            "SELECT v.name, s.phase, count(*), count(s.idle) FROM steps s JOIN variants v "
            f"ON v.id = s.variant_id WHERE v.run_id = '{name}' GROUP BY 1, 2 ORDER BY 1, 2",
        )
        assert steps == [
            ("eager", "decode", 6, 0),
            ("eager", "prefill", 3, 0),
            ("my_variant:prepare", "decode", 6, 0),
            ("my_variant:prepare", "prefill", 3, 0),
        ]

    def test_the_output_of_the_programs_is_in_logs(self, run):
        assert "patched Qwen3ForCausalLM" in (run[1] / "logs" / "eager.none.log").read_text()
        assert "patched" not in run[0].stdout
        assert "patched" not in run[0].stderr.replace("patched over", "")

    def test_the_exact_commands_are_kept(self, run):
        commands = run[2]["commands"]
        assert list(commands) == [
            "cudagraph: untraced",
            "eager: untraced",
            "eager: none",
            "my_variant:prepare: untraced",
            "my_variant:prepare: none",
            "eager: untraced-2",
            "my_variant:prepare: untraced-2",
        ]
        assert commands["eager: none"][:2] == [commands["eager: none"][0], "profile"]
        assert "--trace=nvtx" in commands["eager: none"]

    def test_runs_do_not_make_a_working_folder_changed(self, home, run):
        assert (home / "runs" / ".gitignore").read_text() == "*\n"

    @pytest.mark.parametrize("variant", ["x", "cudagraph"])
    def test_diff_with_what_has_no_figures(self, home, run, variant):
        name = run[2]["id"]
        done = launchlens(home, "diff", f"{name}:eager", f"{name}:{variant}")
        if variant == "x":
            said = one_sentence(done)
            assert "has no variant x. It has: " in said
            assert "my_variant:prepare" in said
        else:
            assert done.returncode == 0, done.stderr
            assert "cudagraph: could not be run" in " ".join(done.stdout.split())

    def test_one_variant_alone_has_its_untraced_time(self, home):
        done = launchlens(
            home, *CPU, "--model", "./tiny-qwen3", "--trace-steps", "2", "--format", "json",
            "--fail-on", "untraced_ns>1ns", "--fail-on", "blockers",
        )  # fmt: skip
        assert done.returncode == 3, done.stderr
        report = json.loads(done.stdout)
        assert report["candidates"] == []
        assert report["baseline"]["facts"]["variant"] == "eager"  # what a CPU runs by default
        rows = {row["metric"]: row["cells"] for row in report["phases"][0]["rows"]}
        assert rows["untraced_ns"][0]["value"] > 0
        assert "FAILED: untraced_ns>1ns" in done.stderr
        # No CUDA was traced, so that nothing was found proves nothing.
        assert "FAILED (unknown): blockers" in done.stderr

    def test_a_variant_that_nsys_cannot_trace_keeps_its_times(self, home):
        done = launchlens(
            home, *CPU, "--model", "./tiny-qwen3", "--variant", "eager", "--nsys-arg=--frobnicate"
        )
        said = one_sentence(done)
        assert "eager could not be traced: nsys ended with exit code 1" in said
        assert "unrecognised option '--frobnicate'" in said
        folder, document = newest_run(home)
        assert document["status"] == "failed"
        assert document["variants"]["eager"]["status"] == "error"
        facts = json.loads((folder / document["variants"]["eager"]["facts"]).read_text())
        assert facts["failure"]["during"] == "trace"
        assert facts["untraced"][0]["wall_ns"]["median"] > 0

    def test_a_round_that_fails_is_told_and_the_others_count(self, home):
        (home / "flaky.py").write_text(
            "import pathlib\n\ncount = pathlib.Path('count')\n\n"
            "def prepare(model, inputs, context):\n"
            "    n = int(count.read_text()) if count.exists() else 0\n"
            "    count.write_text(str(n + 1))\n"
            "    if n == 2:  # timed, traced, and now round 2\n"
            "        raise ValueError('not this time')\n"
            "    return lambda: model(**inputs).logits\n"
        )
        done = launchlens(
            home, *CPU, "--model", "./tiny-qwen3", "--layers", "1", "--rounds", "3",
            "--variant", "flaky:prepare", "--variant", "eager", "--trace-steps", "1",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        said = " ".join(done.stdout.split())
        assert "Round 2 could not be captured: not this time" in said
        assert "eager in 3 processes" in said
        assert "flaky:prepare in 2 processes" in said
        assert newest_run(home)[1]["status"] == "complete"

    def test_variants_that_nsys_cannot_trace_are_compared_untraced(self, home):
        done = launchlens(
            home, *CPU, "--model", "./tiny-qwen3", "--variant", "eager",
            "--variant", "my_variant:prepare", "--nsys-arg=--frobnicate",
        )  # fmt: skip
        assert done.returncode == 1
        last = done.stderr.strip().splitlines()[-1]
        assert last.startswith("launchlens: eager could not be traced: nsys ended with exit code 1")
        first = " ".join(done.stdout.split())
        assert re.match(
            r"tiny-qwen3-eager → my_variant:prepare: prefill step .{,99} \(untraced\)", first
        )
        assert "GPU idle and launches per step unknown" in first
        assert "tiny-qwen3-my_variant:prepare could not be traced: nsys ended" in first
        folder, document = newest_run(home)
        assert document["status"] == "failed"
        heading = (folder / "report.md").read_text().splitlines()[0]
        assert re.match(r"### Prefill step (.*× (faster|slower)|.*%)", heading)

    def test_a_variant_that_takes_too_long_does_not_take_the_others_with_it(self, home):
        (home / "slow.py").write_text("import time\n\n\ndef prepare(*_):\n    time.sleep(600)\n")
        done = launchlens(
            home, *CPU, "--model", "./tiny-qwen3", "--trace-steps", "2", "--timeout", "45",
            "--variant", "eager", "--variant", "slow:prepare",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        program = f"{Path(sys.executable).name} -m launchlens.harness"
        said = " ".join(done.stdout.split())
        assert f"slow:prepare: could not be run: {program}" in said
        assert "did not end within 45 s" in done.stderr
        folder, document = newest_run(home)
        assert document["status"] == "complete"
        assert profiled.processes_of(folder) == []

    @pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
    def test_an_interrupted_run_is_incomplete_and_leaves_nothing_running(self, home, sent):
        program = [sys.executable, "-m", "launchlens", *CPU, "--model", "./tiny-qwen3"]
        process = subprocess.Popen(
            program,
            cwd=home,
            env=profiled.environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_heeds_ctrl_c,  # noqa: PLW1509
        )
        assert process.stderr.readline().startswith("[1/2] eager: untraced: ")
        folder = profiled.run_folders(home)[-1]
        profiled.wait_until(lambda: profiled.processes_of(folder))
        process.send_signal(sent)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 128 + sent
        assert "Traceback" not in err
        assert out == ""
        assert profiled.processes_of(folder) == []
        document = json.loads((folder / "run.json").read_text())
        assert (document["status"], document["reason"]) == ("incomplete", "interrupted")
        assert query(home / "runs" / "runs.db", "PRAGMA integrity_check") == [("ok",)]
        row = query(
            home / "runs" / "runs.db", f"SELECT status FROM runs WHERE id = '{folder.name}'"
        )
        assert row == [("incomplete",)]
        # What was measured before is kept.
        facts = json.loads((folder / document["variants"]["eager"]["facts"]).read_text())
        assert facts["untraced"][0]["wall_ns"]["median"] > 0


class TestModelThatCannotBeBuilt:
    """Found out once, not for each variant."""

    pytestmark = needs_nsys

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["--patch", "broken.py"], "broken.py failed: RuntimeError: line 1727 is not there."),
            (["--layers", "3"], "The model has 2 layers, not 3."),
        ],
    )
    def test_it_is_said_once(self, home, arguments, said):
        done = launchlens(
            home, *CPU, "--model", "./tiny-qwen3", *arguments, "--variant", "eager",
            "--variant", "compile",
        )  # fmt: skip
        sentence = one_sentence(done)
        assert f"eager could not be run: {'The patch ' if 'patch' in said else ''}" in sentence
        assert said in sentence
        assert "compile" not in done.stderr
        assert newest_run(home)[1]["status"] == "failed"

    def test_torch_for_the_cpu_on_a_machine_with_a_gpu(self, home, tmp_path):
        import torch

        if torch.version.cuda is not None:
            pytest.skip("this torch was built for CUDA")
        (tmp_path / "pynvml.py").write_text(H200)  # stands before NVIDIA's library
        path = os.pathsep.join([str(tmp_path), profiled.environment(home)["PYTHONPATH"]])
        done = launchlens(home, "profile", "--model", "./tiny-qwen3", PYTHONPATH=path)
        sentence = one_sentence(done)
        assert "was built for the CPU only" in sentence
        assert sys.executable in sentence


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--model", "qwen3-0.6bb"], 1, "Did you mean qwen3-0.6b"),
        (["--model", "gemma-3n-E9B-it"], 1, "Did you mean gemma-3n-E4B"),
        (["--model", "./no-folder"], 1, "./no-folder"),
        (["--model", "qwen3-0.6b", "--patch", "nope.py"], 1, "nope.py does not exist"),
        (["--model", "qwen3-0.6b", "--variant", "graph"], 2, "Use eager, cudagraph, breakable"),
        (["--model", "qwen3-0.6b", "--steps", "5"], 2, "at least 20"),
        (["--model", "qwen3-0.6b", "--trace-steps", "0"], 2, "at least 1"),
        (["--model", "qwen3-0.6b", "--concurrency", "1,4"], 2, "Give --osl too"),
        (["--model", "qwen3-0.6b", "--osl", "5", "--concurrency", "1,x"], 2, "1,4,16"),
        (["--model", "qwen3-0.6b", "--output", "no/folder/r.md"], 1, "there is no folder no"),
        (["--model", "qwen3-0.6b", "--fail-on", "launches"], 2, "Write METRIC>+N"),
        (["--model", "qwen3-0.6b", "--fail-on", "launches>+0"], 2, "needs a baseline"),
        (["--model", "qwen3-0.6b", "--nsys", "/nope/nsys"], 1, "/nope/nsys, named by --nsys"),
        (["--model", "qwen3-0.6b", "--runs", "a-file"], 1, "No run folder can be made in a-file"),
    ],
)
def test_bad_input_is_one_sentence_before_anything_runs(
    fails, monkeypatch, tmp_path, arguments, code, said
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-file").write_text("")
    if "--runs" in arguments and profiled.NSYS is None:
        pytest.skip("needs nsys on PATH")
    assert said in fails("profile", "--device", "cpu", *arguments, code=code)
    assert not (tmp_path / "launchlens-runs").exists()


def test_without_a_gpu_the_model_is_still_checked_first(fails, monkeypatch):
    monkeypatch.setattr("launchlens.capture.gpu_facts", lambda: None)
    assert "Did you mean" in fails("profile", "--model", "qwen3-0.6bb")
    assert "no NVIDIA GPU answers here" in fails("profile", "--model", "qwen3-0.6b")
    assert "--device cpu" in fails("blockers", "--model", "qwen3-0.6b")
