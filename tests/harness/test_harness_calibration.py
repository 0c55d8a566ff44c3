"""Mode calibrate: the program runs through on a CPU, which stands in for the GPU it measures."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")


@pytest.mark.torch
def test_every_cost_is_timed_at_every_size(run_harness):
    process, result = run_harness(model="calibration", mode="calibrate")
    assert process.returncode == 0, process.stderr
    sizes = {}
    for cost in result["costs"]:
        sizes.setdefault(cost["kind"], []).append(cost["size"])
        assert all(ns > 0 for ns in cost["samples_ns"])
    both = [f"{kind}, {of}" for kind in ("launches", "graph") for of in ("GPU", "CPU")]
    assert {*both, "broken graph, GPU"} <= set(sizes)
    assert sizes["launches, CPU"] == [50, 100, 200, 400]
    assert sizes["broken graph, GPU"] == [25, 50, 100, 200]
    assert result["piece"] == 10
    assert result["model"] is None


@pytest.mark.torch
def test_under_a_profiler_there_are_steps_of_launches_alone(run_harness):
    _, result = run_harness(model="calibration", mode="calibrate", graph_trace="none")
    assert (result["costs"], result["traced_steps"]) == ([], 10)


@pytest.mark.torch
def test_without_a_gpu_it_is_refused(run_harness):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    process, result = run_harness(model="calibration", mode="calibrate", device="cuda")
    assert process.returncode == 1
    assert "GPU" in result["error"]["message"]
