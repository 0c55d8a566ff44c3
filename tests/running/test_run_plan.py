"""What ``launchlens run`` makes of its options, before anything starts."""

from __future__ import annotations

import socket

import pytest

from launchlens.capture import Nsys, find_nsys
from launchlens.errors import CaptureError, UsageError
from launchlens.workflow.running import before
from launchlens.workflow.running.plan import Wanted, command_line, make_run_plan


def plan(*command, **wanted):
    return make_run_plan(command, Wanted(environ={}, **wanted))


def test_without_a_recipe_the_whole_run_is_recorded():
    made = plan("python", "x.py")
    assert (made.command, made.environment, made.name, made.model) == (
        *(("python", "x.py"), {}, "run", "x"),
    )
    assert made.tracing.range is None


def test_what_begins_the_recording():
    assert plan("x", capture_range="cudaProfilerApi").tracing.range == "cudaProfilerApi"
    nvtx = plan("x", capture_range="nvtx:prefill")
    assert (nvtx.tracing.range, nvtx.tracing.window.nvtx) == ("nvtx", "prefill")
    assert nvtx.environment == {"NSYS_NVTX_PROFILER_REGISTER_ONLY": "0"}
    assert plan("vllm", "serve", "m", recipe="vllm").tracing.range == "cudaProfilerApi"
    assert plan("vllm", "serve", "m", recipe="vllm", capture_range="none").tracing.range is None
    by_clock = plan("vllm", "serve", "m", recipe="vllm", delay_s=20, duration_s=5).tracing
    assert (by_clock.range, by_clock.window.delay_s, by_clock.window.duration_s) == (None, 20, 5)


@pytest.mark.parametrize(
    ("command", "model"),
    [
        ("vllm bench latency --model Qwen/Qwen3-0.6B", "Qwen/Qwen3-0.6B"),
        ("vllm serve Qwen/Qwen3-0.6B --port 1", "Qwen/Qwen3-0.6B"),
        ("python -m sglang.launch_server --model-path=m", "m"),
        ("/usr/bin/python3 bench/decode.py --model", "decode"),
        ("./server", "server"),
    ],
)
def test_what_a_run_is_of(command, model):
    assert plan(*command.split()).model == model


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"mode": "eager"}, "--mode needs a recipe"),
        ({"iterations": "1-2"}, "--iterations needs a recipe"),
        ({"iterations": "9-2", "recipe": "vllm"}, "not the first and the last"),
        ({"iterations": "ten", "recipe": "vllm"}, "not the first and the last"),
        ({"capture_range": "hotkey"}, "is none of cudaProfilerApi"),
        ({"capture_range": "nvtx:"}, "is none of cudaProfilerApi"),
        ({"capture_range": "nvtx:a@b"}, "takes what follows @ for a domain"),
        ({"capture_range": "nvtx:a", "delay_s": 3}, "by the clock"),
        ({"iterations": "1-2", "recipe": "vllm", "duration_s": 3}, "exclude one another"),
        ({"name": "a b"}, "cannot name a variant"),
        ({"recipe": "ollama"}, "There is no recipe"),
    ],
)
def test_contradictions(wanted, said):
    with pytest.raises(UsageError, match=said):
        plan("vllm", "serve", "m", **wanted)


def test_no_command():
    with pytest.raises(UsageError, match="no command to run"):
        plan()


@pytest.mark.nsys
def test_the_exact_command(tmp_path):
    made = plan("vllm", "serve", "m o", recipe="vllm")
    said = command_line(made, find_nsys(), tmp_path / "out")
    assert said.startswith("VLLM_WORKER_MULTIPROC_METHOD=spawn ")
    assert "--capture-range=cudaProfilerApi" in said
    assert said.endswith("vllm serve 'm o' --profiler-config.profiler cuda")


def test_nvtx_range_delay_and_duration_as_nsys_takes_them(tmp_path):
    nsys = Nsys(tmp_path / "nsys", (2025, 3), "2025.3")
    nvtx = command_line(plan("x", capture_range="nvtx:my step"), nsys, tmp_path)
    assert "--capture-range=nvtx --capture-range-end=stop" in nvtx
    assert "'--nvtx-capture=my step@*'" in nvtx
    timed = command_line(plan("x", delay_s=20, duration_s=5), nsys, tmp_path)
    assert "--delay=20 --duration=5 --kill=none" in timed
    assert "--capture-range" not in timed


def test_a_server_that_is_there_already():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(UsageError, match=f"answers at port {port} already"):
            before.refuse(plan("vllm", "serve", "m", "--port", str(port)))
        before.refuse(plan("vllm", "bench", "serve", "--port", str(port)))  # a client


def test_sampling_that_the_kernel_forbids(monkeypatch):
    monkeypatch.setattr(before.capture, "sampling_forbidden", lambda: 4)
    before.refuse(plan("x"))
    before.refuse(plan("x", nsys_args=["--sample=none"]))
    for words in (["--sample=process-tree"], ["-s", "cpu"], ["--cudabacktrace=all"]):
        with pytest.raises(CaptureError, match="perf_event_paranoid is 4"):
            before.refuse(plan("x", nsys_args=words))


def test_other_tools_are_told_of(monkeypatch):
    monkeypatch.setenv("CUDA_INJECTION64_PATH", "/opt/tool.so")
    monkeypatch.setattr(before.capture, "find_tracing_processes", lambda: [(17, "ncu")])
    said = " ".join(before.remarks(plan("x")))
    assert "unset CUDA_INJECTION64_PATH" in said
    assert "17 (ncu)" in said
