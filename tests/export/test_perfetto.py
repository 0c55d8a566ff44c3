"""Chrome trace JSON of one step."""

from __future__ import annotations

import json

import html_records as records

from launchlens.export.perfetto import render_perfetto
from launchlens.records.timeline import Lane, Span, Timeline

STEP = Timeline(
    "eager",
    3,
    "prefill#3",
    "prefill",
    12_345,
    (
        Lane("CPU thread 7: CUDA calls", "host", (Span("cudaLaunchKernel", 1001, 4300, "launch"),)),
        Lane(
            "NVTX ranges",
            "range",
            (Span("inner", 0, 10, "range"), Span("prefill#3", 0, 9000, "range")),
        ),
        Lane("GPU 0, stream 7", "stream", (Span("gemm", 6001, 2, "kernel"),)),
        Lane("GPU 0, idle by cause", "gap", (Span("idle before gemm", 0, 6001, "lead_in"),)),
    ),
)


def test_spans_are_complete_events_in_microseconds():
    events = json.loads(render_perfetto(STEP))["traceEvents"]
    complete = [e for e in events if e["ph"] == "X"]
    assert [(e["name"], e["ts"], e["dur"], e["pid"], e["tid"]) for e in complete] == [
        ("cudaLaunchKernel", 1.001, 4.3, 1, 1),
        ("prefill#3", 0.0, 9.0, 1, 2),
        ("inner", 0.0, 0.01, 1, 2),
        ("gemm", 6.001, 0.002, 2, 3),
        ("idle before gemm", 0.0, 6.001, 2, 4),
    ]
    assert complete[3]["args"] == {"kind": "kernel", "duration_ns": 2}


def test_processes_and_lanes_are_named():
    events = json.loads(render_perfetto(STEP))["traceEvents"]
    names = {
        (e["name"], e["pid"], e["tid"]): e["args"]["name"]
        for e in events
        if e["ph"] == "M" and "name" in e["args"]
    }
    assert names == {
        ("process_name", 1, 0): "eager: CPU",
        ("process_name", 2, 0): "eager: GPU",
        ("thread_name", 1, 1): "CPU thread 7: CUDA calls",
        ("thread_name", 1, 2): "NVTX ranges",
        ("thread_name", 2, 3): "GPU 0, stream 7",
        ("thread_name", 2, 4): "GPU 0, idle by cause",
    }


def test_no_nanosecond_is_lost_and_hostile_names_survive():
    line = records.timeline("eager", 200, 17_001, 1903, name=records.HOSTILE)
    text = render_perfetto(line)
    assert text.isascii()
    back = [e for e in json.loads(text)["traceEvents"] if e["ph"] == "X"]
    spans = [span for lane in line.lanes for span in lane.spans]
    assert sorted(
        (e["name"], round(e["ts"] * 1000), round(e["dur"] * 1000)) for e in back
    ) == sorted((s.title, s.start_ns, s.duration_ns) for s in spans)
