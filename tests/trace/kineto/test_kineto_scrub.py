"""A scrubbed torch.profiler trace: the same figures, and nothing of machine, user or program."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from kineto_events import call, ns, two_steps, us
from test_kineto_stacks import step_with_a_read
from typed import run

from launchlens.errors import TraceError
from launchlens.metrics import summarize
from launchlens.trace import find_secrets, read_stacks, read_trace, scrub_trace
from launchlens.trace.interface import Excerpt

HOME = "/".join(("", "home", "ada"))

TRACES = Path(__file__).parents[3] / "traces"
PRIVATE = ("ada", "box17", "hunter2", "/home", "rank_zero", "secretproject")


def figures(path):
    return [asdict(step) for step in summarize(read_trace(path)).steps]


def private_trace(write):
    events = [*step_with_a_read(), *two_steps()]
    events[0]["args"]["Input Strings"] = ["secretproject"]
    events.append({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "box17 ada"}})
    events.append(call("cudaMalloc", 100_000, 100_100, 99) | {"env": "PASSWORD=hunter2"})
    events[7]["name"] = f"{HOME}/secretproject/model.py(40): decide"
    return write(events, distributedInfo={"rank_zero": "box17"}, hostname="box17")


def test_nothing_private_is_left_and_figures_stay(write, tmp_path):
    path, out = private_trace(write), tmp_path / "out.json"
    assert find_secrets(path)
    scrub_trace(path, out)
    text = out.read_text()
    assert not [word for word in PRIVATE if word in text]
    assert find_secrets(out) == []
    assert figures(out) == figures(path)
    assert json.loads(text)["baseTimeNanoseconds"] == 1_790_857_026_000_000_000
    frames = [f.source for stack in read_stacks(out).python for f in stack.frames]
    assert "model.py:12" in frames


def test_by_the_command(write, tmp_path):
    path, out = private_trace(write), tmp_path / "shared.json"
    done = run("scrub", path, out)
    assert done.returncode == 0, done.stderr
    assert "hunter2" not in out.read_text()


@pytest.mark.parametrize("name", ["eager", "graph"])
def test_shipped_traces_keep_every_nanosecond(name, tmp_path):
    path, out = TRACES / f"qwen3-0.6b-{name}.torch2.11.json.gz", tmp_path / "out.json"
    scrub_trace(path, out)
    assert figures(out) == figures(path)
    assert find_secrets(out) == []


def test_times_that_floats_cannot_hold_stay(write, tmp_path):
    events = two_steps()
    for one in events:
        one["ts"] = us(ns(one["ts"]) + 1_790_857_026_000_000_000)
    del events[3]["dur"]
    path, out = write(events), tmp_path / "out.json"
    scrub_trace(path, out)
    assert figures(out) == figures(path)


def test_steps_are_not_cut_out(write, tmp_path):
    with pytest.raises(TraceError, match="cuts out no steps"):
        scrub_trace(write(two_steps()), tmp_path / "out.json", Excerpt(0, 1, ()))
