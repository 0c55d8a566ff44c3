"""What torch.profiler really writes on a machine without a GPU: ranges and operators."""

from __future__ import annotations

import pytest

from launchlens.metrics import summarize
from launchlens.trace import read_trace

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("with_stack", [False, True])
def test_ranges_are_known_and_the_device_is_not(tmp_path, with_stack):
    torch = pytest.importorskip("torch")
    model = torch.nn.Linear(4, 4)
    path = tmp_path / "cpu.json"
    cpu = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=cpu, with_stack=with_stack) as prof:
        for number in range(3):
            with torch.profiler.record_function(f"prefill#{number}"):
                model(torch.ones(2, 4)).sum().item()
    prof.export_chrome_trace(str(path))
    trace = read_trace(path)
    steps = summarize(trace).steps
    assert [s.range for s in steps] == ["prefill#0", "prefill#1", "prefill#2"]
    spans = [e for e in prof.events() if e.name.startswith("prefill#")]
    for step, span in zip(steps, spans, strict=True):
        assert step.cpu_ns == pytest.approx(1000 * span.cpu_time_total, abs=1)
        assert (step.launches, step.kernels, step.busy_ns) == (None, None, None)
        assert "ProfilerActivity.CUDA" in step.unknown_reason
    assert any("with_stack=True" in said for said in trace.info.warnings) == with_stack
