"""The programs without a GPU: what they copy, at which lines, by torch's own dispatch.

Tensors on the meta device stand for the GPU's. That the expected counts, bytes and lines are
right is thereby told by torch, not by the rules or by a recorded trace.
"""

from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from test_blocker_programs import line_of, program

PROGRAMS = Path(__file__).parent / "programs"
# Those whose result does not decide how they go on, so that meta tensors suffice.
NAMES = [
    "altup_epsilon",
    "config_scalar_tensor",
    "cpu_embedding",
    "item_loop",
    "layer_to_device",
    "nonblocking_pageable",
    "shape_tensors",
    "tensor_condition",
    "tolist_lengths",
    "clean_attention",
    "clean_mlp",
    "clean_static_copy",
]


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_torch_sees_the_copies_that_are_expected(name):
    pytest.importorskip("torch", reason="needs torch (CPU is enough)")
    from launchlens.harness.dispatch import Recorder, observe

    path = PROGRAMS / f"{name}.py"
    module = ModuleType(name)
    code = compile(path.read_text().replace('"cuda"', '"meta"'), str(path), "exec")
    exec(code, module.__dict__)
    state = module.setup()
    recorder = Recorder()
    with observe(None, recorder, accelerator="meta"):
        module.step(state)
    seen = Counter((e.kind, e.bytes, e.line) for e in recorder.events)

    found, lines = program(name)
    kinds = {"pageable-htod": "htod", "dtoh-sync": "dtoh"}
    expected = Counter()
    for one in found["EXPECT"]:
        key = kinds[one["rule"]], one["bytes"], line_of(lines, one["line_marker"])
        expected[key] += one["count_per_step"]
    assert seen == expected
