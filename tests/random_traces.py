"""Random small traces, and the program beside a plain reference that counts instants."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path

import pytest
from build_trace import TraceBuilder
from plain_reference import figures, host_counts

from launchlens.metrics import summarize
from launchlens.trace import read_trace

APIS = (
    "cudaLaunchKernel_v7000",
    "cuLaunchKernelEx",
    "cudaMemcpyAsync_v3020",
    "cudaMemcpy_v3020",
    "cudaMemsetAsync_v3020",
    "cudaStreamSynchronize_v3020",
    "cudaEventRecord_v3020",
    "cudaGraphLaunch_v10000",
)


def draw_ops(random, trace, api, corr, pid, at, devices):
    device = random.choice(devices)

    def span():
        start = at + random.randint(-2, 25) or 1  # a start of 0 is no time
        return start, start + random.randint(1, 20)

    def place():
        return {"pid": pid, "device": device, "stream": random.choice((7, 8))}

    if "LaunchKernel" in api:
        trace.op("kernel", *span(), corr, **place())
    elif "Memcpy" in api:
        trace.op("memcpy", *span(), corr, **place())
    elif "Memset" in api:
        trace.op("memset", *span(), corr, **place())
    elif "GraphLaunch" in api:
        if random.random() < 0.3:
            trace.op("graph", *span(), corr, **place())
        else:
            for node in range(random.randint(1, 4)):
                trace.op("kernel", *span(), corr, node=node + 1, **place())


def draw(random) -> tuple[TraceBuilder, list[tuple[int, int, int, int]]]:
    """A trace of two processes and threads, and its steps (pid, tid, start, end)."""
    trace, steps = TraceBuilder(), []
    devices = random.choice(((0,), (0, 1)))
    trace.cuda_devices = [(device, device, pid) for pid in (1, 2) for device in (0, 1)]
    origin = random.choice((1, -150))
    for pid in (1, 2)[: random.randint(1, 2)]:
        corr = 0
        for tid in (1, 2)[: random.randint(1, 2)]:
            now = origin + random.randint(0, 10)
            for number in range(random.randint(1, 2)):
                length = random.randint(20, 90)
                trace.range(f"prefill#{number}", now, now + length, tid=tid, pid=pid)
                steps.append((pid, tid, now, now + length))
                now += length + random.randint(1, 20)
            at = origin
            while at < now:
                at += random.randint(1, 12)
                corr += 1
                api, length = random.choice(APIS), random.randint(1, 10)
                trace.call(api, at, at + length, corr=corr, tid=tid, pid=pid)
                draw_ops(random, trace, api, corr, pid, at, devices)
                at += length
        if random.random() < 0.3:
            start = random.randint(1, 100)
            trace.op("kernel", start, start + 9, 77_000, pid=pid, device=random.choice(devices))
    random.shuffle(trace.calls)  # rows of an export come in any order
    random.shuffle(trace.ops)
    return trace, steps


def agree(random):
    """Draw a trace; its figures are those of the reference, exactly."""
    trace, drawn = draw(random)
    with tempfile.TemporaryDirectory() as folder:
        analysis = summarize(read_trace(trace.write(Path(folder, "t.sqlite"))))
    expected = {}
    for pid, tid, start, end in drawn:
        by_device = figures(trace, pid, tid, start, end)
        counts = host_counts(trace, pid, tid, start, end)
        found = [
            s
            for s in analysis.steps
            if (s.pid, s.tid, s.start_ns, s.end_ns) == (pid, tid, start, end)
        ]
        assert {s.device for s in found} == (set(by_device) or {None})
        for name, count in counts.items():
            assert sum(getattr(s, name) for s in found) == count, name
        for step in found:
            if step.device is not None:
                expected[step.index, step.device] = check(step, by_device[step.device])
    assert len(analysis.steps) == sum(max(1, len(figures(trace, *s))) for s in drawn)


def check(step, reference):
    assert asdict(step.gaps_ns) == reference["gaps_ns"]
    assert sum(reference["gaps_ns"].values()) == step.window_ns - step.busy_ns
    for name in ("window_ns", "busy_ns", "projected_ns", "lead_in_ns", "tail_ns", "graph_spans"):
        assert getattr(step, name) == reference[name], name
    for name in ("idle", "idle_kernels_only", "idle_projected"):
        assert getattr(step, name) == pytest.approx(reference[name], abs=1e-9), name
    if step.graph_tracing in ("none", "node"):
        for name in ("kernels", "memcpys", "memsets"):
            assert getattr(step, name) == reference[name], name
    else:
        assert (step.kernels, step.memcpys, step.memsets) == (None, None, None)
    return True
