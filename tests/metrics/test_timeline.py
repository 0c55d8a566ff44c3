"""Timelines of real traces: the lanes hold exactly what the figures counted."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from build_trace import TraceBuilder

from launchlens.metrics import summarize_measured
from launchlens.metrics.timeline import MOST_SUBMISSIONS, build_timeline, representative_step
from launchlens.trace import read_trace

TRACES = Path(__file__).parents[2] / "traces"
EXPECTED = json.loads((TRACES / "expected.json").read_text())
ROLES = ("host", "stream", "gap")
#: Traces of each kind: eager, graph nodes, whole graphs, breakable, synchronizing.
FILES = [
    "qwen3-0.6b-eager.nsys2025.3.sqlite.xz",
    "qwen3-0.6b-cudagraph.node.nsys2025.3.sqlite.xz",
    "qwen3-0.6b-cudagraph.graph.nsys2025.3.sqlite.xz",
    "gemma-4-e4b-breakable.node.nsys2025.3.sqlite.xz",
    "trtllm-range-names.nsys2025.3.sqlite.xz",
]


def by_kind(timeline, role):
    return Counter(s.kind for lane in timeline.lanes if lane.role == role for s in lane.spans)


def durations(timeline, role):
    total: Counter[str] = Counter()
    for lane in timeline.lanes:
        for span in lane.spans if lane.role == role else ():
            total[span.kind] += span.duration_ns
    return total


@pytest.mark.parametrize("name", FILES)
def test_lanes_hold_what_the_stored_figures_count(name):
    trace = read_trace(TRACES / name)
    analysis, measured = summarize_measured(trace)
    for group in analysis.summary:
        step = representative_step(analysis, group)
        timeline = build_timeline(trace, measured, step, side="side")
        expected = next(
            s
            for s in EXPECTED[name]
            if s["range"] == step.range and s["window_ns"] == step.window_ns
        )
        assert timeline.window_ns == expected["window_ns"]
        gaps = durations(timeline, "gap")
        assert gaps == {k: v for k, v in expected["gaps_ns"].items() if v}
        on_stream = by_kind(timeline, "stream")
        assert on_stream["graph"] == expected["graph_spans"]
        # Another step's last operations may reach into the window, never fewer than its own.
        for kind, key in (("kernel", "kernels"), ("memcpy", "memcpys"), ("memset", "memsets")):
            assert on_stream[kind] >= (expected[key] or 0)
        launches = expected["kernel_launches"] + expected["graph_launches"]
        assert by_kind(timeline, "host")["launch"] >= launches


def test_gaps_and_operations_fill_the_window_without_overlap():
    trace = read_trace(TRACES / FILES[0])
    analysis, measured = summarize_measured(trace)
    timeline = build_timeline(trace, measured, analysis.steps[2], side="side")
    pieces = sorted(
        (span.start_ns, span.start_ns + span.duration_ns)
        for lane in timeline.lanes
        if lane.role in ("gap", "stream")
        for span in lane.spans
    )
    reach = 0
    for start, end in pieces:
        assert start <= reach, "a hole that is neither busy nor a gap"
        reach = max(reach, end)
    assert reach >= timeline.window_ns
    gap_ends = [
        (s.start_ns, s.start_ns + s.duration_ns)
        for lane in timeline.lanes
        if lane.role == "gap"
        for s in lane.spans
    ]
    assert all(a[1] <= b[0] for a, b in pairwise(gap_ends))


def test_representative_step_has_the_median_window():
    analysis, _ = summarize_measured(read_trace(TRACES / FILES[0]))
    windows = sorted(s.window_ns for s in analysis.steps)
    step = representative_step(analysis, analysis.summary[0])
    assert step.window_ns == windows[(len(windows) - 1) // 2]


def test_dropped_steps_are_not_drawn():
    trace = read_trace(TRACES / FILES[0])
    analysis, _ = summarize_measured(trace, skip=len(summarize_measured(trace)[0].steps) - 1)
    assert representative_step(analysis, analysis.summary[0]) == analysis.steps[-1]


def test_a_step_whose_graph_work_is_missing_is_not_drawn():
    trace = read_trace(TRACES / "gemma-3n-cudagraph.default-mode.nsys2023.4.sqlite.xz")
    analysis, measured = summarize_measured(trace)
    assert representative_step(analysis, analysis.summary[0]) is None
    with pytest.raises(ValueError, match="no known window"):
        build_timeline(trace, measured, analysis.steps[0], side="side")


def test_a_step_too_large_for_a_page_is_not_drawn():
    analysis, _ = summarize_measured(read_trace(TRACES / FILES[0]))
    huge = tuple(replace(s, kernels=MOST_SUBMISSIONS + 1) for s in analysis.steps)
    assert representative_step(replace(analysis, steps=huge), analysis.summary[0]) is None


def test_nested_ranges_get_a_lane_for_each_level():
    trace = read_trace(TRACES / "nvtx-domain-ranges.nsys2025.3.sqlite.xz")
    analysis, measured = summarize_measured(trace)
    timeline = build_timeline(trace, measured, analysis.steps[1], side="side")
    for lane in (lane for lane in timeline.lanes if lane.role == "range"):
        ends = [(s.start_ns, s.start_ns + s.duration_ns) for s in lane.spans]
        assert all(a[1] <= b[0] for a, b in pairwise(ends))
    assert {"NVTX ranges", "NVTX ranges, level 2"} <= {lane.title for lane in timeline.lanes}


@pytest.mark.parametrize("name", FILES[:3])
def test_a_call_its_operations_and_the_gap_before_them_share_an_id(name):
    """Joined by id, an operation starts after its call did, and a gap ends before it starts."""
    trace = read_trace(TRACES / name)
    analysis, measured = summarize_measured(trace)
    step = representative_step(analysis, analysis.summary[0])
    lanes = build_timeline(trace, measured, step, side="side").lanes
    spans = {role: [s for one in lanes if one.role == role for s in one.spans] for role in ROLES}
    calls = {call.correlation_id: call for call in spans["host"]}
    assert len(calls) == len(spans["host"])
    linked = [op for op in spans["stream"] if op.correlation_id in calls]
    assert len(linked) >= (step.kernels or step.graph_spans)
    assert all(calls[op.correlation_id].start_ns <= op.start_ns for op in linked)
    launched = {op.correlation_id for op in spans["stream"] if op.kind in ("kernel", "graph")}
    launches = {i for i, call in calls.items() if call.kind == "launch"}
    assert launched & set(calls) == launches
    waits = [gap for gap in spans["gap"] if gap.kind == "launch"]
    starts = {op.correlation_id: op.start_ns for op in reversed(spans["stream"])}
    assert all(gap.start_ns + gap.duration_ns <= starts[gap.correlation_id] for gap in waits)


def test_streams_of_the_steps_gpu_alone_whoever_submitted(tmp_path):
    """Another GPU's kernel is left out; another thread's on the same GPU makes it busy too."""
    built = TraceBuilder()
    built.range("prefill", 0, 100)
    built.launch(10, 12, kernel=(20, 40), name="own")
    built.call("cudaLaunchKernel_v7000", 1, 2, tid=9, corr=900)
    built.op("kernel", 30, 50, 900, device=1, name="of another GPU")
    built.launch(1, 2, tid=8, kernel=(50, 70), stream=9, name="of another thread")
    trace = read_trace(built.write(tmp_path / "t.sqlite"))
    analysis, measured = summarize_measured(trace)
    step = representative_step(analysis, analysis.summary[0])
    timeline = build_timeline(trace, measured, step, side="side")
    drawn = {s.name for lane in timeline.lanes if lane.role == "stream" for s in lane.spans}
    assert drawn == {"own", "of another thread"}
