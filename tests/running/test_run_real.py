"""``launchlens run`` as a user types it: a real nsys around real programs. NVTX needs no GPU."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.nsys

PROGRAM = str(Path(__file__).parent / "programs/ranges.py")


def _heeds_ctrl_c():
    """In a child: shells start background jobs, such as tests, with Ctrl-C ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Launched:
    """``launchlens run`` in a process of its own, with a folder of runs of its own."""

    def __init__(self, folder):
        self.folder = folder

    def words(self, options, task):
        program = task[1:] if task[0] == "--" else [sys.executable, PROGRAM, *task]
        own = [sys.executable, "-m", "launchlens", "run", "--runs", str(self.folder / "runs")]
        return [*own, *options, "--", *program]

    def run(self, *task, options=(), **how):
        return subprocess.run(
            self.words(options, task),
            capture_output=True,
            text=True,
            timeout=180,
            cwd=self.folder,
            check=False,
            **how,
        )

    def start(self, *task, options=()):
        return subprocess.Popen(
            self.words(options, task),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            preexec_fn=_heeds_ctrl_c,  # noqa: PLW1509
        )

    def document(self):
        (file,) = (self.folder / "runs").glob("*/run.json")
        return json.loads(file.read_text())

    def file(self, pattern):
        (found,) = (self.folder / "runs").glob(f"*/{pattern}")
        return found


@pytest.fixture
def launched(tmp_path):
    return Launched(tmp_path)


def wait_for(condition, limit_s=60.0):
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("engine", "title", "tokens"),
    [("vllm", "vLLM", 25), ("sglang", "SGLang", 25), ("trtllm", "TensorRT-LLM", 25)],
)
def test_each_engines_steps_are_found_and_kept(launched, engine, title, tokens):
    done = launched.run("steps", engine, options=["-f", "json", "--name", "eager"])
    assert done.returncode == 0, done.stderr
    analysis = json.loads(done.stdout)
    found = [(g["phase"], g["engine"], g["steps"], g["tokens"]) for g in analysis["summary"]]
    assert found[0] == ("prefill", title, 3, tokens)
    assert found[1][:3] == ("decode", title, 12)
    run = launched.document()
    assert run["status"] == "complete"
    assert run["variants"]["eager"]["status"] == "ok"
    assert f"{run['id']}:eager" in done.stderr


@pytest.mark.parametrize(
    ("task", "processes"),
    [(("thread", "vllm"), 1), (("exec", "vllm"), 1), (("processes", "vllm", "spawn", "2"), 2)],
    ids=["thread", "exec", "spawn"],
)
def test_threads_and_processes_are_followed(launched, task, processes):
    done = launched.run(*task, options=["-f", "json"])
    assert done.returncode == 0, done.stderr
    steps = json.loads(done.stdout)["steps"]
    assert len(steps) == 15 * processes
    assert len({step["pid"] for step in steps}) == processes


def test_forked_workers_are_followed_and_doubted(launched):
    """nsys 2022.4 loses the last events of processes that end as multiprocessing ends them."""
    done = launched.run("processes", "vllm", "fork", "2", options=["-f", "json"])
    assert done.returncode == 0, done.stderr
    steps = json.loads(done.stdout)["steps"]
    assert len({step["pid"] for step in steps}) == 2
    assert "forked without exec: 2 processes" in done.stderr
    assert "Their last events may be missing" in done.stderr


def test_output_input_variables_and_exit_code_pass_on(launched):
    done = launched.run("echo", input="said\n", env={**os.environ, "SAID": "so"})
    assert done.returncode == 3
    assert "in: said\n" in done.stdout
    assert "err: so" in done.stderr
    log = launched.file("logs/run.log").read_text()
    assert "in: said" in log
    assert "err: so" in log


def test_a_program_without_ranges(launched):
    done = launched.run("nothing")
    assert done.returncode == 1
    assert done.stdout == "no range at all\n"
    assert "step ranges: there are no NVTX ranges" in done.stderr
    assert "launchlens recipes" in done.stderr
    assert launched.document()["variants"]["run"]["status"] == "error"


def test_a_crash_keeps_what_was_recorded(launched):
    done = launched.run("crash", "vllm")
    assert done.returncode == 128 + signal.SIGSEGV
    assert "steps named by vLLM" in done.stdout
    assert "ended by signal SIGSEGV. Its last events may be missing" in done.stderr


def test_no_such_program(launched):
    done = launched.run("--", "/no/such/program")
    assert done.returncode == 127
    assert "/no/such/program" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_range_that_never_opens(launched):
    options = ["--capture-range", "nvtx:warm-up"]
    done = launched.run("steps", "vllm", options=options)
    assert done.returncode == 1
    assert "nsys recorded nothing" in done.stderr
    assert "No range 'warm-up' began on any thread" in done.stderr
    failure = json.loads(launched.file("results/run.facts.json").read_text())["failure"]
    assert "nothing" in failure["error_line"]


def test_an_engine_whose_profiler_is_never_started(launched):
    done = launched.run("steps", "sglang", options=["--recipe", "sglang"])
    assert done.returncode == 1
    assert 'POST `/start_profile` with `{"activities": ["CUDA_PROFILER"]}`' in done.stderr


def test_only_what_lies_within_an_nvtx_range_is_recorded(launched):
    text = "execute_context_0(0)_generation_1(1)"
    options = ["--capture-range", f"nvtx:{text}", "-f", "json"]
    done = launched.run("steps", "vllm", options=options)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["steps"]) <= 1


def test_by_the_clock(launched):
    """The recording ends after a second, the program does not."""
    options = ["--duration", "1", "-f", "json", "--grace", "1", "--timeout", "6"]
    done = launched.run("hang", "vllm", options=options)
    assert "hanging" in done.stderr
    assert "did not end within 6 s" in done.stderr
    assert done.returncode == 128 + signal.SIGTERM
    assert len(json.loads(done.stdout)["steps"]) == 15


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_is_asked_to_end(launched, number):
    process = launched.start("polite", "vllm")
    wait_for(lambda: "hanging" in _log(launched))
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 40 + number, err
    assert f"asked by {number.name}" in out
    assert "prefill: 3 steps" in out
    assert launched.document()["status"] == "complete"


def test_a_program_that_does_not_heed_is_killed_and_what_it_did_is_kept(launched):
    process = launched.start("deaf", "vllm", options=["--grace", "1"])
    wait_for(lambda: "hanging" in _log(launched))
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGKILL
    assert "does not end by itself: killed" in err
    assert "prefill: 3 steps" in out


def test_impatience_kills_at_once(launched):
    process = launched.start("deaf", "vllm", options=["--grace", "600"])
    wait_for(lambda: "hanging" in _log(launched))
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGKILL
    assert "prefill: 3 steps" in out


def test_gigabytes_of_output(launched):
    """All of it passes on; the log keeps the beginning and the end."""
    with Path(os.devnull).open("wb") as nowhere:
        done = subprocess.run(
            launched.words([], ["flood", "vllm", "1100"]),
            stdout=nowhere,
            stderr=subprocess.PIPE,
            timeout=180,
            cwd=launched.folder,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    log = launched.file("logs/run.log")
    assert log.stat().st_size < 70 << 20
    with log.open("rb") as opened:
        opened.seek(-2_000_000, os.SEEK_END)
        tail = opened.read()
    assert tail.endswith(b"\nthe end\n")
    assert b"bytes of output are left out here]" in tail
    assert launched.document()["variants"]["run"]["status"] == "ok"


def test_a_reader_that_goes_away_stops_nothing(launched):
    words = launched.words(["-o", "report.txt"], ["flood", "vllm", "20"])
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=launched.folder
    )
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(timeout=120) == 0
    assert "prefill: 3 steps" in (launched.folder / "report.txt").read_text()


def test_secrets_of_the_command_are_not_kept(launched):
    done = launched.run("--", sys.executable, PROGRAM, "nothing", "--api-key", "sk-1234")
    assert done.returncode == 1
    kept = [p.read_bytes() for p in (launched.folder / "runs").glob("*/run.json")]
    kept += [p.read_bytes() for p in (launched.folder / "runs").glob("*/results/*.json")]
    assert kept
    assert not any(b"sk-1234" in text for text in kept)


def test_two_runs_are_compared_by_their_names(launched):
    for name in ("eager", "graphs"):
        assert launched.run("steps", "vllm", options=["--name", name]).returncode == 0
    words = [sys.executable, "-m", "launchlens", "diff", "--runs", str(launched.folder / "runs")]
    done = subprocess.run(
        [*words, "latest:eager", "latest:graphs"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "eager" in done.stdout
    assert "graphs" in done.stdout


def _log(launched):
    logs = list((launched.folder / "runs").glob("*/logs/run.log"))
    return logs[0].read_text(errors="replace") if logs else ""
