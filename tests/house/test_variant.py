"""A variant is one file, found by registration; nothing else knows its name."""

from __future__ import annotations

import json

import pytest
from tiny_model import make_model

DOUBLED = '''
"""Variant ``doubled``: the forward call with all logits doubled."""

from launchlens.harness.variants.base import Prepared, Variant


class Doubled(Variant):
    """Runs the forward call and doubles what comes out."""

    name = "doubled"
    summary = "twice the logits"
    order = 1

    def prepare(self, model, inputs, context):
        """Prepares nothing."""
        return Prepared(lambda: model(**inputs).logits * 2, "eager")


VARIANTS = (Doubled(),)
'''


@pytest.fixture
def doubled(house):
    house.add("harness/variants/doubled.py", DOUBLED)
    assert len(house.touched) == 1
    return house


def test_the_command_line_offers_it(doubled):
    options = " ".join(doubled.run("profile", "--help", columns=300).split())
    assert "eager (the plain forward call), doubled (twice the logits), cudagraph" in options
    said = doubled.fails(
        "profile", "-m", "gemma-3n-E4B-it", "--variant", "tripled", "--device", "cpu", code=2
    )
    assert "Use eager, doubled, cudagraph" in said


@pytest.mark.torch
def test_the_harness_runs_it(doubled):
    pytest.importorskip("torch", reason="needs torch")
    pytest.importorskip("transformers", reason="needs transformers")
    model = make_model(doubled.work)
    outputs = {}
    for variant in ("eager", "doubled"):
        spec = {
            "model": str(model), "variant": variant, "device": "cpu", "dtype": "float32", "isl": 8,
            "steps": 2, "warmup": 1, "result_path": str(doubled.work / f"{variant}.json"),
            "outputs_path": str(doubled.work / f"{variant}.npz"),
        }  # fmt: skip
        file = doubled.write(f"{variant}-spec.json", spec)
        done = doubled.python("-m", "launchlens.harness", file)
        assert done.returncode == 0, done.stderr
        result = json.loads((doubled.work / f"{variant}.json").read_text())
        assert result["status"] == "ok", result
        outputs[variant] = doubled.work / f"{variant}.npz"
    import numpy as np

    plain, twice = (np.load(outputs[name]) for name in ("eager", "doubled"))
    assert plain["float32.prefill"].any()
    np.testing.assert_array_equal(twice["float32.prefill"], plain["float32.prefill"] * 2)
