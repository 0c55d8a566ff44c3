"""Stored runs for tests of commands: shipped traces in run folders, with facts written by hand."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import handmade

from launchlens import store
from launchlens.records.variant import Failure, RequestFigures, Untraced, VariantFacts
from launchlens.workflow.load import Choices, load

ROOT = Path(__file__).parents[2]
TRACES = ROOT / "traces"
EAGER = TRACES / "qwen3-0.6b-eager.nsys2025.3.sqlite.xz"
NODE = TRACES / "qwen3-0.6b-cudagraph.node.nsys2025.3.sqlite.xz"
SPANS = TRACES / "qwen3-0.6b-cudagraph.graph.nsys2025.3.sqlite.xz"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
COMMIT = "abc123def4567890abc123def4567890abc123de"
FAILURE = Failure("RuntimeError", "Cannot copy between CPU and CUDA", "modeling.py:17", "Use it.")


def facts(variant, wall_ns, *, commit=COMMIT[:12], dirty=False, failure=None):
    return VariantFacts(
        model="qwen3-0.6b",
        variant=variant,
        isl=25,
        batch=1,
        dtype="bfloat16",
        commit=commit,
        dirty=dirty,
        untraced=()
        if failure
        else (Untraced("prefill", handmade.stat(wall_ns), (wall_ns - 1000, wall_ns + 1000)),),
        requests=()
        if failure
        else (RequestFigures(25, 5, 1, wall_ns + 300_000, 9_000_000, 84_000_000, 11.9, 59.5, 10),),
        peak_memory_bytes=2**30,
        failure=failure,
    )


def make_run(
    root,
    *,
    day=0,
    eager_ns=47_400_000,
    captured_ns=4_670_000,
    commit=COMMIT,
    dirty=False,
    with_traces=True,
    failed=(),
    model="Qwen/qwen3-0.6b",
):
    """A complete run of eager and cudagraph, and of variants that failed."""
    environment = {"gpu": "NVIDIA H200", "driver": "580.159.04", "torch": "2.9.0"}
    environment |= {"git_commit": commit, "git_dirty": dirty}
    with store.create_run(
        root,
        model=model,
        arguments={"model": model},
        environment=environment,
        now=NOON + timedelta(days=day),
    ) as run:
        short = {"commit": commit[:12], "dirty": dirty}
        run.record_command("eager: node", ["nsys", "profile", "--trace=cuda,nvtx", "a program"])
        for name, wall, traces in (
            ("eager", eager_ns, {"node": EAGER}),
            ("cudagraph", captured_ns, {"node": NODE, "graph": SPANS}),
        ):
            run.save_variant(name, "ok", facts(name, wall, **short))
            for kind, source in traces.items() if with_traces else ():
                trace = run.traces / f"{name}.{kind}.sqlite.xz"
                shutil.copyfile(source, trace)
                run.save_steps(name, kind, trace, load(trace, Choices()).analysis)
        for name in failed:
            run.save_variant(name, "failed", facts(name, 0, failure=FAILURE, **short))
    return run
