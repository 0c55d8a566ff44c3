"""Random traces with every hard case in them: the program beside a plain reference, exact."""

from __future__ import annotations

import tempfile
from pathlib import Path

from build_trace import TraceBuilder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_hard import figures

from launchlens.errors import StepNotFoundError
from launchlens.metrics import summarize
from launchlens.trace import read_trace

APIS = (
    "cudaLaunchKernel_v7000",
    "cudaLaunchKernel_v7000",
    "cudaLaunch_v3020",
    "cudaGraphLaunch_v10000",
    "cudaMemcpyAsync_v3020",
    "cudaStreamSynchronize_v3020",
    "cudaEventQuery_v3020",
    "cudaStreamBeginCapture_v10000",
    "cudaStreamEndCapture_v10000",
    "cudaLaunchOfTomorrow",
    None,
)
COUNTS = (
    "kernel_launches",
    "graph_launches",
    "launches",
    "memcpy_calls",
    "sync_calls",
    "captured_calls",
    "failed_calls",
    "unnamed_calls",
    "unlisted_launches",
    "lost_launches",
    "untimed_operations",
)


def draw(random) -> tuple[TraceBuilder, list[tuple[int, int]]]:
    """A trace of one thread, and its steps."""
    trace, steps, now, corr = TraceBuilder(), [], 5_000, 0
    wild = random.random() < 0.8
    for number in range(random.randint(1, 3)):
        begin = now
        for _ in range(random.randint(1, 6)):
            now += random.randint(1, 30)
            corr += 0 if wild and corr and random.random() < 0.1 else 1
            now = draw_call(random, trace, now, corr, wild=wild)
        steps.append((begin, now))
        trace.range(f"prefill#{number}", begin, now)
        now += random.randint(1, 20)
    if random.random() < 0.2:
        trace.op("memcpy", begin + 3, begin + 9, 0, copy_kind=11)
    random.shuffle(trace.calls)
    random.shuffle(trace.ops)
    return trace, steps


def draw_call(random, trace, start, corr, *, wild):
    """A call with what it ran, if anything; returns its end."""
    api = random.choice(APIS if wild else APIS[:6])
    end = start + random.randint(4, 10)
    result = random.choice((0, 0, 0, 0, 0, 600, 700)) if wild else 0
    trace.call(api, start, end, corr=corr, result=result)
    if wild and api is not None and random.random() < 0.1:
        trace.call(api.split("_")[0], start + 1, end - 1, corr=corr, result=result, event=67)
    lost = wild and random.random() < 0.15
    if result or lost or (api is None and random.random() < 0.5):
        return end
    kind = {"cudaMemcpyAsync_v3020": "memcpy", "cudaGraphLaunch_v10000": "graph"}
    runs = api is None or "aunch" in api or "Memcpy" in api
    for node in range(runs * random.choice((1, 1, 2))):
        made = kind.get(api, "kernel")
        if made == "graph" and random.random() < 0.6:
            made = "kernel"
        op_start = start + random.choice((3, 15, 40, 40, -1_000 if wild else 3))
        op_end = op_start + random.randint(1, 60)
        if wild and random.random() < 0.12:
            op_start, op_end = random.choice(((0, 0), (None, op_end), (op_end, op_start - 1)))
        is_node = node + 1 if api and "Graph" in api and made == "kernel" else None
        trace.op(made, op_start, op_end, corr, node=is_node)
    return end


@given(st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_hard_cases_agree_with_the_reference(random):
    trace, drawn = draw(random)
    with tempfile.TemporaryDirectory() as folder:
        path = trace.write(Path(folder, "t.sqlite"))
        try:
            found = {(s.start_ns, s.end_ns): s for s in summarize(read_trace(path)).steps}
        except StepNotFoundError:
            found = {}
    for start, end in drawn:
        expected = figures(trace, 1, 1, start, end)
        step = found[start, end]
        for name in COUNTS:
            assert getattr(step, name) == expected[name], name
        assert ("sync_calls" in step.bounds) == expected["calls_are_bounds"]
        assert ("launches" in step.bounds) == expected["launches_are_bounds"]
        check_device(step, expected)


def check_device(step, expected):
    assert step.busy_ns == expected["busy_ns"]
    if expected["busy_ns"] is None:
        assert step.idle is None
        return
    assert step.window_ns == expected["window_ns"]
    assert step.idle == 1 - expected["busy_ns"] / expected["window_ns"]
    assert step.bounds.get("busy_ns") == expected["busy_is"]
    assert step.bounds.get("idle") == expected["idle_is"]
    assert (step.gaps_ns is not None) == expected["gaps_known"]
    if step.gaps_ns is None:
        assert step.bound in (None, "gpu-bound")
        assert step.unknown_reason
    for name in ("kernels", "memcpys"):
        assert getattr(step, name) == expected[name], name
    if expected["kernels"] is not None:
        assert (step.bounds.get("kernels") == "lower") == expected["kernels_are_bounds"]
