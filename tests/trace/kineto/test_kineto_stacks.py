"""Blockers of a torch.profiler trace name the program's line: functions and operators around."""

from __future__ import annotations

import json

import numpy as np
import pytest
from kineto_events import annotation, call, event, ran
from typed import run

from launchlens.trace import read_stacks
from launchlens.trace.formats.kineto.nesting import parents_of

HOME = "/".join(("", "home", "ada"))


def function(name, start, end, **args):
    return event("python_function", name, start, end, **args)


def operator(name, start, end):
    return event("cpu_op", name, start, end)


def step_with_a_read(at=0, number=1):
    """A step whose model reads a flag back in the second of two functions."""
    model = f"{HOME}/serve/model.py"
    return [
        annotation("prefill", at, at + 9_000),
        function(f"{HOME}/serve/main.py(70): serve", at + 5, at + 8_900),
        function("torch/nn/modules/module.py(1501): _call_impl", at + 10, at + 8_800),
        function("nn.Module: Model_0", at + 20, at + 8_700),
        function(f"{model}(12): forward", at + 30, at + 8_600),
        function(f"{model}(30): gate", at + 100, at + 500),
        call("cudaLaunchKernel", at + 200, at + 250, number),
        function(f"{model}(40): decide", at + 1_000, at + 5_000),
        function("contextlib.py(79): inner", at + 1_050, at + 4_900),
        function("torch/utils/_contextlib.py(115): wrapper", at + 1_060, at + 4_800),
        function("<built-in method item of Tensor object at 0x7f>", at + 1_100, at + 4_000),
        operator("aten::item", at + 1_200, at + 3_900),
        operator("aten::_local_scalar_dense", at + 1_300, at + 3_800),
        call("cudaMemcpyAsync", at + 1_400, at + 1_500, number + 1),
        call("cudaStreamSynchronize", at + 1_600, at + 3_700, number + 2),
        ran("gemm", at + 400, at + 800, number),
        ran(
            "Memcpy DtoH (Device -> Pageable)",
            at + 1_500,
            at + 1_600,
            number + 1,
            category="gpu_memcpy",
            bytes=1,
        ),
    ]


def test_frames_of_a_call(write):
    stacks = read_stacks(write(step_with_a_read()))
    copy = stacks.python[1]
    frames = [(f.source, f.function) for f in copy.frames]
    assert frames == [
        ("_contextlib.py:115", "wrapper"),
        ("model.py:40", "decide"),
        ("model.py:12", "forward"),
        ("module.py:1501", "_call_impl"),
        ("main.py:70", "serve"),
    ]
    assert copy.operators == ("aten::_local_scalar_dense", "aten::item")
    assert [f.function for f in stacks.python[0].frames][:2] == ["gate", "forward"]
    assert "lines are those where functions begin" in stacks.note


def test_blockers_name_the_innermost_line_outside_torch(write):
    path = write([*step_with_a_read(), *step_with_a_read(20_000, 11)])
    report = json.loads(run("blockers", path, "-f", "json").stdout)
    (found,) = [f for f in report["findings"] if f["rule"] == "dtoh-sync"]
    assert (found["source"], found["count_per_step"]) == ("model.py:40", 1)
    assert found["stack"][0] == "model.py:40 decide"
    assert "aten::item" in found["stack"]
    assert not any("contextlib" in frame for frame in found["stack"])
    assert any("lines are those where functions begin" in note for note in report["notes"])


def test_operators_alone(write):
    """A recording without with_stack still names the operator."""
    events = [e for e in step_with_a_read() if e["cat"] != "python_function"]
    path = write(events)
    assert read_stacks(path).note is None
    report = json.loads(run("blockers", path, "-f", "json").stdout)
    (found,) = [f for f in report["findings"] if f["rule"] == "dtoh-sync"]
    assert found["source"] is None
    assert found["stack"] == ["aten::_local_scalar_dense", "aten::item"]


def test_a_program_named_as_a_module_of_pythons(write):
    """A script ``profile.py`` is not taken for the standard library where it is all there is."""
    events = step_with_a_read()
    for one in events:
        one["name"] = one["name"].replace(f"{HOME}/serve/model.py", "profile.py")
        one["name"] = one["name"].replace(f"{HOME}/serve/main.py", "profile.py")
    report = json.loads(run("blockers", write(events), "-f", "json").stdout)
    (found,) = [f for f in report["findings"] if f["rule"] == "dtoh-sync"]
    assert "profile.py:40 decide" in found["stack"]


@pytest.mark.parametrize("seed", range(20))
def test_parents_of_random_nests(seed):
    """Against a plain loop that keeps a stack of open events."""
    chance = np.random.default_rng(seed)
    thread, start, end = [], [], []

    def grow(one, low, high, depth):
        at = low
        while at < high and depth < 5:
            begin = int(chance.integers(at, high + 1))
            stop = int(chance.integers(begin, high + 1))
            thread.append(one), start.append(begin), end.append(stop)
            grow(one, begin + 1, stop - 1, depth + 1)
            at = stop + 1

    for one in range(3):
        grow(one, 0, 400, 0)
    expected, open_events = [], []
    for row in range(len(start)):
        while open_events and (
            thread[open_events[-1]] != thread[row] or end[open_events[-1]] < end[row]
        ):
            open_events.pop()
        expected.append(open_events[-1] if open_events else -1)
        open_events.append(row)
    columns = (np.array(thread, np.int32), np.array(start), np.array(end))
    assert parents_of(*columns).tolist() == expected
