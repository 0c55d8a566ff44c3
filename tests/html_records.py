"""Hand-built comparisons, timelines and trends for tests of charts, pages and Perfetto."""

from __future__ import annotations

import hashlib

from launchlens.records.comparison import (
    Cell,
    Comparison,
    Difference,
    KernelChanges,
    KernelDiff,
    PhaseComparison,
    Row,
    Side,
)
from launchlens.records.figures import ApiRow, Finding, GapBin, KernelRow, TraceInfo
from launchlens.records.timeline import Lane, Span, Timeline
from launchlens.records.trend import TrendPoint, TrendSeries
from launchlens.records.variant import RequestFigures, VariantFacts

GEMM = "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x1_tn_align8>"
ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add"
    "<c10::BFloat16>, std::array<char *, 3ul>>(int, T2, T3)"
)
HOSTILE = (
    "</script><script>alert('x')</script> <img src=x onerror=alert(1)> `a|b` & \"q\" "
    "\n\u2028javascript:alert(2) <!-- {{ 7*7 }} {% raw %}"
)
LONG = "void deep<" + "nested::type<int, " * 270 + "end>"


def trace_info(label: str = "eager", **changes: object) -> TraceInfo:
    values: dict[str, object] = {
        "file": f"{label}.sqlite.xz",
        "label": label,
        "sha256": hashlib.sha256(label.encode(errors="replace")).hexdigest(),
        "nsys_version": "2025.3.2",
        "export_schema": "3.20.3",
        "gpu": "NVIDIA H200",
        "driver": "570.1",
        "cuda_driver": "12.8",
        "graph_tracing": "node",
        "cuda_traced": True,
        "api_calls": 16000,
        "ops": 15500,
        "unlinked_ops": 0,
        "profiler_overhead_ns": 1_200_000,
    }
    return TraceInfo(**(values | changes))  # type: ignore[arg-type]


def row(metric: str, title: str, unit: str, values: list[object], *, headline: bool = False) -> Row:
    base = values[0]
    cells = []
    for value in values:
        known = isinstance(value, (int, float)) and isinstance(base, (int, float))
        cells.append(
            Cell(
                value,  # type: ignore[arg-type]
                n=4,
                change=value - base if known else None,  # type: ignore[operator]
                relative=value / base - 1 if known and base else None,  # type: ignore[operator]
                verdict="unknown" if not known else "better" if value < base else "same",  # type: ignore[operator]
                source="untraced" if metric == "untraced_ns" else "trace",
            )
        )
    return Row(metric, title, unit, -1, 0.0, tuple(cells), headline)


def rows() -> tuple[Row, ...]:
    return (
        row("launches", "Launches per step", "count", [3828, 1, 309], headline=True),
        row("idle", "GPU idle, traced", "fraction", [0.847, 0.176, 0.412], headline=True),
        row(
            "window_ns",
            "Step time, traced",
            "ns",
            [70_800_000, 14_300_000, 16_900_000],
            headline=True,
        ),
        row(
            "untraced_ns",
            "Step time, untraced",
            "ns",
            [49_100_000, 13_000_000, None],
            headline=True,
        ),
        row("idle_corrected", "GPU idle, corrected", "fraction", [0.779, 0.094, None]),
        row("busy_ns", "GPU busy", "ns", [10_832_400, 11_783_200, 9_937_200]),
        row("gaps_ns.lead_in", "Idle: lead-in", "ns", [310_000, 95_000, 120_000]),
        row("gaps_ns.host", "Idle: host", "ns", [51_000_000, 240_000, 4_400_000]),
        row("gaps_ns.launch", "Idle: launch", "ns", [7_900_000, 60_000, 900_000]),
        row("gaps_ns.sync", "Idle: sync", "ns", [600_000, 0, 300_000]),
        row("gaps_ns.device", "Idle: device", "ns", [120_000, 2_090_000, 1_200_000]),
        row("gaps_ns.tail", "Idle: tail", "ns", [37_600, 31_800, 42_800]),
        row("sync_calls", "Sync calls per step", "count", [3, 0, 1]),
    )


def side(label: str, short: str, name: str = ADD, **facts: object) -> Side:
    histogram = (
        GapBin(0, 2000, 2200, 2_900_000),
        GapBin(2000, 5000, 900, 3_100_000),
        GapBin(5000, 10_000, 4100, 31_000_000),
        GapBin(10_000, 50_000, 7900, 160_000_000),
        GapBin(50_000, 500_000, 210, 21_000_000),
        GapBin(500_000, None, 4, 9_000_000),
    )
    kernels = (
        KernelRow(GEMM, 1200, 21_000_000, 17_500, 0.62),
        KernelRow(name, 3400, 6_100_000, 1800, 0.18),
    )
    calls = (
        ApiRow("cudaLaunchKernel", 12_800, 60_000_000, 4200),
        ApiRow("cuLaunchKernelEx", 2512, 11_000_000, 4300),
        ApiRow("cudaMemcpyAsync", 40, 900_000, 9000),
        ApiRow("cudaStreamSynchronize", 12, 2_100_000, 90_000),
    )
    return Side(
        label,
        short,
        trace_info(label),
        None,
        VariantFacts(model="gemma-4-e4b", isl=25, batch=1, dtype="bfloat16", **facts),  # type: ignore[arg-type]
        (),
        histogram,
        kernels,
        calls,
    )


def finding(title: str = "6 × host-to-device copies, 2 bytes, pageable") -> Finding:
    return Finding(
        rule="pageable-htod",
        confidence="confirmed",
        title=title,
        count_per_step=6.0,
        stable=True,
        bytes=2,
        kinds="Pageable to Device",
        source="modeling_gemma3n.py:1727",
        stack=("altup.predict (modeling_gemma3n.py:1727)", "forward (modeling_gemma3n.py:2001)"),
        host_ns=310_000,
        idle_ns=410_000,
        position="after fused_add, before mul",
        remedy="Make the constant on the GPU once: a registered buffer or torch.full.",
    )


def requests(factor: float) -> tuple[RequestFigures, ...]:
    return tuple(
        RequestFigures(
            25,
            5,
            n,
            int(48.3e6 * factor * n**0.4),
            8_700_000,
            int(83e6 * factor),
            11.9 / factor,
            59.5 / factor,
            20,
        )
        for n in (1, 4)
    )


def comparison(*, name: str = ADD, label: str = "gemma-4-e4b", candidates: int = 2) -> Comparison:
    sides = [
        side(f"{label}-eager", "eager", name, requests=requests(1.0)),
        side(f"{label}-cudagraph", "cudagraph", name, requests=requests(0.3)),
        side(f"{label}-breakable", "breakable", name),
    ][: candidates + 1]
    n = len(sides)
    cut = tuple(
        Row(r.metric, r.title, r.unit, r.direction, r.threshold, r.cells[:n], r.headline, r.note)
        for r in rows()
    )
    changes = KernelChanges(
        "cudagraph",
        known=True,
        reason=None,
        added=(KernelDiff(name, 0.0, 2.0, 0, 5200),),
        removed=(KernelDiff(GEMM, 3.0, 0.0, 41_000, 0),),
    )
    first = sides[0]
    baseline = Side(
        first.label,
        first.short,
        first.trace,
        None,
        first.facts,
        (finding(),),
        first.gap_histogram,
        first.kernels,
        first.api_calls,
    )
    phase = PhaseComparison(
        "prefill",
        tuple("process 0, device 0" for _ in sides),
        tuple(4 for _ in sides),
        tuple(1 for _ in sides),
        cut,
        (changes,),
        ("launch-bound", "gpu-bound", "mixed")[:n],
    )
    differences = (
        Difference("graph tracing", ("none", "node", "node")[:n], serious=False),
        Difference("Nsight Systems", ("2025.3.2", "2025.3.2", "2025.5.1")[:n], serious=True),
    )
    return Comparison(
        "launchlens.comparison/1",
        baseline,
        tuple(sides[1:]),
        (phase,),
        differences,
        ("Node-level tracing lengthens graphs: its idle is no lower bound.",),
    )


def timeline(
    side_label: str,
    kernels: int,
    spacing_ns: int,
    length_ns: int,
    *,
    graph: bool = False,
    name: str = ADD,
) -> Timeline:
    """A step with ``kernels`` kernels, one every ``spacing_ns``, and a gap before each."""
    names = [GEMM, name, "rms_norm_kernel", "rotary_kernel"]
    host, stream, gaps = [], [], []
    at = 90_000
    for i in range(kernels):
        length = length_ns * (5 if i % 7 == 0 else 1)
        if not graph:
            kind = "sync" if i % 500 == 499 else "launch"
            call = "cudaStreamSynchronize" if kind == "sync" else "cudaLaunchKernel"
            host.append(Span(call, at - 7000, 4300, kind, i))
        if stream:
            before = stream[-1].start_ns + stream[-1].duration_ns
            if at > before:
                cause = "device" if graph else "host" if i % 3 else "launch"
                before_it = None if graph and i else i
                gap = Span(names[i % 4], before, at - before, cause, before_it, "idle before ")
                gaps.append(gap)
        stream.append(Span(names[i % 4], at, length, "kernel", 0 if graph else i))
        at += max(spacing_ns, length + 600)
    if graph:
        host.append(Span("cudaGraphLaunch", 20_000, 61_000, "launch", 0))
    gaps.insert(0, Span(names[0], 0, 90_000, "lead_in", 0, "idle before "))
    layers = 35
    ranges = [
        Span(f"module:layers.{i}", i * (at // layers), at // layers - 900, "range")
        for i in range(layers)
    ]
    lanes = (
        Lane("CPU thread 4711: CUDA calls", "host", tuple(host)),
        Lane("NVTX ranges", "range", tuple(ranges)),
        Lane("GPU 0, stream 7", "stream", tuple(stream)),
        Lane("GPU 0, idle by cause", "gap", tuple(gaps)),
    )
    return Timeline(side_label, 2, "prefill#2", "prefill", at, lanes)


def timelines(count: int = 4000) -> tuple[Timeline, ...]:
    return (
        timeline("eager", count, 17_000, 1900),
        timeline("cudagraph", count, 3000, 1900, graph=True),
    )


def trend(values: list[float | int | None], **changes: object) -> TrendSeries:
    """A figure over runs, a day and a commit apart; files were changed at the second run."""
    points = []
    before = None
    for day, value in enumerate(values, 1):
        known = before is not None and value is not None
        points.append(
            TrendPoint(
                run_id=f"run{day}",
                created=f"2026-11-{day:02}T12:00:00+00:00",
                git_commit=f"{day:x}" * 40,
                git_dirty=day == 2,
                value=value,
                relative=value / before - 1 if known else None,  # type: ignore[operator]
                change=value - before if known else None,  # type: ignore[operator]
            )
        )
        before = value or before
    settings: dict[str, object] = {
        "metric": "untraced_ns",
        "unit": "ns",
        "model": "qwen3-0.6b",
        "variant": "eager",
        "gpu": "NVIDIA H200",
        "shape": "ISL 25, batch 1, bfloat16",
        "phase": "prefill",
        "source": "untraced",
    }
    return TrendSeries(**settings | changes, points=tuple(points))  # type: ignore[arg-type]
