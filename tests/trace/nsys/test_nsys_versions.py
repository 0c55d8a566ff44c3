"""Real exports of several nsys: each gives what `versions/program.py` does by its lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from launchlens import read_trace, summarize

FOLDER = Path(__file__).parent / "versions"
RECORDINGS = sorted(p.name.removesuffix(".all.sqlite.xz") for p in FOLDER.glob("*.all.*"))
STEPS, REPLAYS, LAUNCHES, COPIES = 4, 2, 10, 1
EAGER = {
    "kernel_launches": LAUNCHES,
    "graph_launches": 0,
    "memcpy_calls": COPIES,
    "kernels": LAUNCHES,
    "memcpys": COPIES,
    "graph_spans": 0,
    "graph_tracing": "none",
}
REPLAYED = {"kernel_launches": 0, "graph_launches": 1, "memcpy_calls": 0}
NODES = {"kernels": LAUNCHES, "memcpys": COPIES, "graph_spans": 0, "graph_tracing": "node"}
SPANS = {"kernels": None, "memcpys": None, "graph_spans": 1, "graph_tracing": "graph"}
MISSING = {"kernels": None, "memcpys": None, "graph_spans": 0, "graph_tracing": "missing"}


def read(name):
    return summarize(read_trace(FOLDER / f"{name}.sqlite.xz"))


@pytest.mark.parametrize("export", ["lazy", "all"])
@pytest.mark.parametrize(
    ("recording", "replayed"),
    [
        ("nsys2025.3.node", NODES),
        ("nsys2025.3.graph", SPANS),
        ("nsys2023.4.node", NODES),
        ("nsys2023.4.graph", MISSING),
    ],
)
def test_on_a_gpu(recording, replayed, export):
    steps = read(f"{recording}.{export}").steps
    assert [s.phase for s in steps] == ["prefill"] * STEPS + ["decode"] * REPLAYS
    for step in steps:
        expected = EAGER if step.phase == "prefill" else REPLAYED | replayed
        assert {name: getattr(step, name) for name in expected} == expected
        known = expected["graph_tracing"] != "missing"
        assert (step.idle is not None) is known
        assert (step.busy_ns is not None) is known


@pytest.mark.parametrize("recording", ["nsys2022.4.nvtx", "nsys2023.4.nvtx"])
def test_both_exports_of_a_recording_without_cuda_say_unknown(recording):
    """Empty tables (--lazy=false) tell no more than tables that are not there."""
    for analysis in (read(f"{recording}.lazy"), read(f"{recording}.all")):
        assert [s.phase for s in analysis.steps] == ["prefill"] * STEPS
        for step in analysis.steps:
            assert step.cpu_ns > 0
            assert step.launches is step.kernels is step.idle is None


@pytest.mark.parametrize("recording", RECORDINGS)
def test_empty_tables_change_no_figure(recording):
    lazy, everything = (read(f"{recording}.{export}") for export in ("lazy", "all"))
    assert lazy.steps == everything.steps
