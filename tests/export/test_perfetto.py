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
        Lane(
            "GPU 0, idle by cause",
            "gap",
            (Span("gemm", 0, 6001, "lead_in", prefix="idle before "),),
        ),
    ),
)


def test_spans_are_complete_events_in_microseconds():
    events = json.loads(render_perfetto([STEP]))["traceEvents"]
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
    events = json.loads(render_perfetto([STEP]))["traceEvents"]
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
    text = render_perfetto([line])
    assert text.isascii()
    back = [e for e in json.loads(text)["traceEvents"] if e["ph"] == "X"]
    spans = [span for lane in line.lanes for span in lane.spans]
    assert sorted(
        (e["args"].get("name", e["name"]), round(e["ts"] * 1000), round(e["dur"] * 1000))
        for e in back
    ) == sorted((s.title, s.start_ns, s.duration_ns) for s in spans)


FULL = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)"


def graph_step(side, first=500):
    """A call with a nested one, which submits two kernels; and one whose call is not there."""
    host = (
        Span("cudaGraphLaunch", 100, 300, "launch", first),
        Span("cuGraphLaunch", 150, 200, "launch"),
    )
    stream = (
        Span(FULL, 600, 50, "kernel", first),
        Span("gemm", 700, 50, "kernel", first),
        Span("gemm", 900, 50, "kernel", first + 1),
    )
    gap = (Span(FULL, 0, 600, "launch", first, prefix="idle before "),)
    lanes = (Lane("calls", "host", host), Lane("s7", "stream", stream), Lane("idle", "gap", gap))
    return Timeline(side, 2, "decode", "decode", 1000, lanes)


def bar_around(events, flow):
    """The bar that a viewer ties a flow event to: the innermost around its instant."""
    around = [
        e
        for e in events
        if e["ph"] == "X"
        and (e["pid"], e["tid"]) == (flow["pid"], flow["tid"])
        and e["ts"] <= flow["ts"] < e["ts"] + e["dur"]
    ]
    return min(around, key=lambda e: e["dur"])


def arrows(text):
    """(bar, bar) for each arrow, as the Trace Event Format ties them."""
    events = json.loads(text)["traceEvents"]
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    assert starts.keys() == ends.keys()
    assert len(starts) == len([e for e in events if e["ph"] == "s"]), "an id for each arrow"
    assert {e["bp"] for e in ends.values()} <= {"e"}, "the bar around it, not the next one"
    return [(bar_around(events, starts[i]), bar_around(events, ends[i])) for i in starts]


def test_arrows_lead_from_a_call_to_each_of_its_operations():
    found = arrows(render_perfetto([graph_step("a")]))
    assert [(a["name"], b["ts"]) for a, b in found] == [
        ("cudaGraphLaunch", 0.6),
        ("cudaGraphLaunch", 0.7),
    ]


def test_names_are_short_and_whole_ones_are_kept():
    events = json.loads(render_perfetto([graph_step("a")]))["traceEvents"]
    bars = {e["ts"]: e for e in events if e["ph"] == "X"}
    short = "vectorized_elementwise_kernel (CUDAFunctor_add)"
    assert bars[0.6]["name"] == short
    assert bars[0.6]["args"] == {
        "kind": "kernel", "duration_ns": 50, "correlation_id": 500, "name": FULL
    }  # fmt: skip
    assert bars[0.0]["name"] == f"idle before {short}"
    assert bars[0.7]["args"] == {"kind": "kernel", "duration_ns": 50, "correlation_id": 500}


def test_several_steps_lie_side_by_side():
    """Ids of different traces are the same and mean different calls: nothing is mixed up."""
    text = render_perfetto([graph_step("a"), STEP, graph_step("b")])
    made = json.loads(text)
    assert [step["side"] for step in made["otherData"]["steps"]] == ["a", "eager", "b"]
    names = {
        e["pid"]: e["args"]["name"] for e in made["traceEvents"] if e["name"] == "process_name"
    }
    assert list(names.values()) == [
        "a: CPU",
        "a: GPU",
        "eager: CPU",
        "eager: GPU",
        "b: CPU",
        "b: GPU",
    ]
    lanes = [(e["pid"], e["tid"]) for e in made["traceEvents"] if e["name"] == "thread_name"]
    assert len({tid for _, tid in lanes}) == len(lanes)
    assert [(names[a["pid"]], names[b["pid"]]) for a, b in arrows(text)] == [
        *[("a: CPU", "a: GPU")] * 2,
        *[("b: CPU", "b: GPU")] * 2,
    ]
