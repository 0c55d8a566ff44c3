"""A comparison and an analysis built by hand, with the figures of docs/definitions.md's example."""

from __future__ import annotations

import hashlib
from dataclasses import MISSING, fields, replace

from launchlens.catalogue import bound_under, step_metrics
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
from launchlens.records.figures import (
    Analysis,
    ApiRow,
    Finding,
    FollowerRow,
    Gaps,
    Group,
    KernelRow,
    Stat,
    Step,
    TraceInfo,
)
from launchlens.records.variant import (
    Equivalence,
    Failure,
    RequestFigures,
    Untraced,
    VariantFacts,
)

#: Texts that break naive renderers; other tests put them into traces.
HOSTILE = (
    "[red]not markup[/red] [bold",
    "a | b || c",
    "first\nsecond\r\nthird\u2028fourth\u0085",
    "`tick` ``two`` ```three",
    "</details></summary><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "x" * 5000,
    "\x1b[31mred\x1b[0m \x9b1m \x07\x08\x00",
    "\u202ereversed\u202c \u200bzero \ufeffmark",
    "@someone #12 :smile: https://example.invalid www.example.invalid",
    "**bold** _it_ ~~no~~ $x$ \\| &lt; &#124;",
    "# heading",
    "- item",
    "\ud800 surrogate",
    "",
)


def finding(rule="pageable-htod", confidence="likely", count=6.0, **changes) -> Finding:
    made = Finding(
        rule=rule,
        confidence=confidence,
        title="Copy from pageable memory",
        count_per_step=count,
        stable=True,
        bytes=2,
        kinds="HtoD pageable",
        source="modeling_gemma3n.py:1727",
        stack=(),
        host_ns=120_000,
        idle_ns=80_000,
        position=None,
        remedy="Build the value on the GPU.",
        copies=rule in ("pageable-htod", "dtoh-sync", "slow-pinned-htod"),
    )
    return replace(made, **changes)


def trace(label="eager", **changes) -> TraceInfo:
    made = TraceInfo(
        file=f"{label}.sqlite",
        label=label,
        sha256=hashlib.sha256(label.encode()).hexdigest(),
        nsys_version="2025.3.2",
        export_schema="3.20.6",
        gpu="NVIDIA H200",
        driver="580.159",
        cuda_driver="13.0",
        graph_tracing=None,
        cuda_traced=True,
        api_calls=4000,
        ops=4000,
        unlinked_ops=0,
        profiler_overhead_ns=None,
    )
    return replace(made, **changes)


def cells(baseline, candidate, direction=-1, *, source="trace", verdict=None) -> tuple[Cell, ...]:
    if candidate is None or baseline is None:
        other = Cell(candidate, verdict="unknown", note="graph work is missing from the trace")
        return (Cell(baseline, n=5), other)
    change = candidate - baseline
    relative = change / baseline if baseline else None
    good = "same" if change == 0 else ("better" if change * direction > 0 else "worse")
    return (
        Cell(baseline, n=5, source=source),
        Cell(
            candidate,
            n=5,
            change=change,
            relative=relative,
            verdict=verdict or good,
            source=source,
        ),
    )


def row(metric, baseline, candidate, *, direction=-1, headline=True, unit=None, **more) -> Row:
    if unit is None:
        unit = "ns" if "_ns" in metric else "fraction" if "idle" in metric else "count"
    title = metric.removesuffix("_ns").replace("_", " ")
    made = cells(baseline, candidate, direction, **more)
    return Row(metric, title, unit, direction, 0.0, made, headline)


ROWS = (
    row("launches", 3828, 1),
    row("kernels", 3841, 3846, direction=0),
    row("idle", 0.847, 0.176),
    row("window_ns", 70_800_000, 14_300_000),
    row("untraced_ns", 49_100_000, 13_000_000, source="untraced"),
    row("sync_calls", 2, 2, headline=False),
)


def requests(ttft, concurrency=1) -> RequestFigures:
    return RequestFigures(
        isl=25,
        osl=5,
        concurrency=concurrency,
        ttft_ns=ttft,
        itl_ns=9_000_000,
        latency_ns=ttft + 36_000_000,
        requests_per_s=1e9 / (ttft + 36_000_000) * concurrency,
        tokens_per_s=5e9 / (ttft + 36_000_000) * concurrency,
        repetitions=10,
    )


def comparison(rows=ROWS, *, phase="prefill", findings=(), **changes) -> Comparison:
    facts = VariantFacts(
        model="gemma-4-E4B-it", variant="eager", isl=25, osl=5, batch=1, dtype="bfloat16"
    )
    base = Side(
        label="gemma-4-e4b-eager",
        short="eager",
        trace=trace("gemma-4-e4b-eager"),
        timing_trace=None,
        facts=replace(
            facts,
            requests=(requests(48_300_000), requests(93_300_000, 4)),
            untraced=(Untraced("prefill", stat(49_100_000)),),
        ),
        findings=findings,
        kernels=(KernelRow("void gemm<bf16>", 500, 9_000_000, 18_000, 0.4),),
        api_calls=(ApiRow("cudaLaunchKernel", 3828, 20_000_000, 5_000),),
        gap_followers=(FollowerRow("void gemm<bf16>", 40, 900_000, 500),),
    )
    candidate = Side(
        label="gemma-4-e4b-cudagraph",
        short="cudagraph",
        trace=trace("gemma-4-e4b-cudagraph", graph_tracing="node"),
        timing_trace=None,
        facts=replace(
            facts,
            variant="cudagraph",
            requests=(requests(14_500_000), requests(23_200_000, 4)),
            equivalence=(Equivalence("bfloat16", 0.0, True, True),),
        ),
        findings=(),
    )
    kernels = KernelChanges(
        candidate="gemma-4-e4b-cudagraph",
        known=True,
        reason=None,
        added=(KernelDiff("void mask_kernel", 0, 5, 0, 12_000),),
    )
    compared = PhaseComparison(
        phase=phase,
        groups=("process 1, GPU 0", "process 1, GPU 0"),
        steps=(5, 5),
        dropped=(0, 0),
        rows=tuple(rows),
        kernels=(kernels,),
        bound=("launch-bound", "gpu-bound"),
    )
    made = Comparison(
        schema="launchlens.comparison/1",
        baseline=base,
        candidates=(candidate,),
        phases=(compared,) if rows else (),
        differences=(Difference("graph tracing", ("none", "node"), serious=False),),
        notes=(),
    )
    return replace(made, **changes)


def failed_candidate(made: Comparison) -> Comparison:
    """The same comparison, its candidate a variant that could not be captured."""
    failure = Failure(
        error_type="RuntimeError",
        error_line="Cannot copy between CPU and CUDA tensors during CUDA graph capture",
        source="modeling_gemma3n.py:1727",
        hint="Build the value on the GPU.",
    )
    side = made.candidates[0]
    return replace(
        made,
        candidates=(replace(side, trace=None, facts=replace(side.facts, failure=failure)),),
    )


def stat(median, n=20, unknown=0) -> Stat:
    return Stat(median, median, median, median, median, median, n, unknown)


def step(index=0, **changes) -> Step:
    figures = {
        "index": index,
        "range": f"prefill#{index}",
        "domain": "launchlens",
        "engine": "launchlens",
        "phase": "prefill",
        "pid": 1,
        "tid": 1,
        "device": 0,
        "start_ns": 1_000 + index,
        "end_ns": 60_001_000,
        "tokens": 25,
        "kernel_launches": 3828,
        "graph_launches": 0,
        "launches": 3828,
        "memcpy_calls": 4,
        "memset_calls": 0,
        "submissions": 3832,
        "sync_calls": 2,
        "alloc_calls": 0,
        "captured_calls": 0,
        "lost_launches": 0,
        "step_launches": 3828,
        "failed_calls": 0,
        "unnamed_calls": 0,
        "unlisted_launches": 0,
        "other_thread_submissions": 0,
        "untimed_operations": 0,
        "kernels": 3841,
        "memcpys": 4,
        "memsets": 0,
        "graph_spans": 0,
        "graph_tracing": "none",
        "hidden_graph_launches": 0,
        "cpu_ns": 60_000_000,
        "projected_ns": 69_000_000,
        "window_ns": 70_800_000,
        "busy_ns": 10_832_400,
        "kernel_busy_ns": 10_800_000,
        "idle": 0.847,
        "idle_kernels_only": 0.8475,
        "idle_projected": 0.843,
        "gaps_ns": Gaps(1_000_000, 50_000_000, 5_000_000, 967_600, 3_000_000, 0, 0),
        "lead_in_ns": 1_000_000,
        "tail_ns": -10_800_000,
        "launch_cost_ns": 4_000,
        "launch_cost_total_ns": 15_000_000,
        "inter_launch_ns": 12_000,
        "queue_ns": 3_000,
        "tklqt_ns": 40_000_000,
        "bound": "launch-bound",
    }
    made = Step(
        **dict.fromkeys(
            [f.name for f in fields(Step) if f.default is f.default_factory is MISSING], 0
        )
        | figures
    )
    return replace(made, **changes)


def group(phase="prefill", metrics=None, **changes) -> Group:
    made = Group(
        phase=phase,
        pid=1,
        device=0,
        engine="launchlens",
        steps=5,
        dropped=0,
        metrics=metrics
        or {metric.name: stat(None, 5) for metric in step_metrics()}
        | {
            "launches": stat(3828, 5),
            "kernels": stat(3841, 5),
            "idle": stat(0.847, 5),
            "window_ns": stat(70_800_000, 5),
            "sync_calls": stat(2, 5),
        },
        graph_tracing="none",
        bound="launch-bound",
        tokens=25,
        unknown_reason=None,
        gap_histogram=(),
        gap_followers=(),
        kernels=(),
        api_calls=(),
    )
    made = replace(made, **changes)
    bounded = {
        name: replace(stat, bound=bound_under(name, made.graph_tracing))
        for name, stat in made.metrics.items()
    }
    return replace(made, metrics=bounded)


def analysis(groups=None, *, findings=(), steps=2, label="gemma-4-e4b-eager") -> Analysis:
    return Analysis(
        schema="launchlens.analysis/1",
        trace=trace(label),
        steps=tuple(step(i) for i in range(steps)),
        summary=tuple(groups) if groups is not None else (group(),),
        skipped=0,
        findings=tuple(findings),
    )
