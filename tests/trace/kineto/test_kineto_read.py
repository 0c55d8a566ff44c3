"""Events of torch.profiler become figures: to the nanosecond, in whatever order and layout."""

from __future__ import annotations

import gzip
import json
import lzma
import random
from pathlib import Path

import pytest
import zstandard
from kineto_events import (
    BASE_NS,
    PID,
    TID,
    annotation,
    call,
    document,
    event,
    ns,
    numbers_of,
    ran,
    text,
    two_steps,
    us,
)

from launchlens.metrics import summarize
from launchlens.records.columns import CopyDirection
from launchlens.records.launch_sizes import LaunchSize
from launchlens.trace import is_trace, read_sizes, read_trace, trace_label

TRACES = Path(__file__).parents[3] / "traces"
STEP = {"launches": 2, "kernels": 2, "window_ns": 10_000, "busy_ns": 3_000, "cpu_ns": 10_000}


def steps_of(path):
    return summarize(read_trace(path)).steps


def assert_two_steps(path):
    steps = steps_of(path)
    assert [s.range for s in steps] == ["prefill#0", "prefill#1"]
    for step in steps:
        assert {name: getattr(step, name) for name in STEP} == STEP
        assert (step.pid, step.tid, step.device) == (PID, TID, 0)


def test_drawn_steps(write):
    path = write(two_steps())
    assert_two_steps(path)
    info = read_trace(path).info
    assert (info.format, info.gpu, info.cuda_driver) == ("kineto", "Abacus 9", "13.0")
    assert (info.api_calls, info.ops, info.unlinked_ops) == (4, 4, 0)
    assert steps_of(path)[0].start_ns == BASE_NS


@pytest.mark.parametrize(
    ("pack", "ending"),
    [(gzip.compress, "gz"), (lzma.compress, "xz"), (zstandard.compress, "zst"), (bytes, "")],
)
def test_compression(write, pack, ending):
    name = f"rank0.pt.trace.json.{ending}".rstrip(".")
    path = write.raw(pack(text(two_steps()).encode()), name)
    assert_two_steps(path)
    assert is_trace(path)
    assert trace_label(path) == "rank0"


@pytest.mark.parametrize(
    "write_as",
    [
        lambda content: json.dumps(content, indent=2),
        lambda content: json.dumps(content, separators=(",", ":")),
        lambda content: "\ufeff" + json.dumps(content),
        lambda content: json.dumps(dict(reversed(content.items()))),
        lambda content: json.dumps(content).replace('"traceEvents": [', '"traceEvents":\n\t[\r\n'),
    ],
    ids=["indented", "compact", "byte order mark", "keys in another order", "odd blanks"],
)
def test_layouts(write, write_as):
    assert_two_steps(write.raw(numbers_of(write_as(document(two_steps()))).encode()))


def test_events_in_any_order(write):
    events = two_steps()
    random.Random(7).shuffle(events)
    assert_two_steps(write(events))


def test_pieces_are_cut_only_between_events(write, monkeypatch):
    """Names with brackets, commas and quotes, and lists of objects in arguments, at any border."""
    from launchlens.trace.formats.kineto import pieces

    odd = event("cpu_op", 'a"}, {"b', 0, 5, shapes=[{"a": 1}, {"a": 2}], why='\\"}, {')
    events = [one for pair in two_steps() for one in (odd, pair, odd)]
    path = write(events)
    seen = set()
    for size in range(64, 1500, 7):
        monkeypatch.setattr(pieces, "_PIECE_BYTES", size)
        trace = read_trace(path)
        seen.add((trace.info.api_calls, trace.info.ops, trace.ranges.start_ns.size))
    assert seen == {(4, 4, 2)}


@pytest.mark.parametrize("shift_us", [2**43, 1_790_857_026_000_000 + 5_350_462_956_249])
def test_times_that_floats_cannot_hold(write, shift_us):
    """Kineto of torch 2.3 counts from 1970: 16 digits before the point, 3 behind it."""
    events = two_steps()
    for one in events:
        one["ts"] = us(ns(one["ts"]) + 1000 * shift_us)
    path = write(events)
    assert_two_steps(path)
    assert steps_of(path)[1].start_ns == BASE_NS + 20_000 + shift_us * 1000


def test_whole_microseconds(write):
    """Kineto before torch 2.4 writes integers."""
    events = two_steps()
    for one in events:
        one["ts"], one["dur"] = ns(one["ts"]) // 1000, ns(one["dur"]) // 1000
    path = write(events)
    assert_two_steps(path)
    assert steps_of(path)[0].start_ns == BASE_NS // 1000 * 1000


def test_categories_that_nobody_knows_are_skipped(write):
    odd = [event("mtia_runtime", "call", 0, 5), {"cat": 7}, {"ph": "C", "name": "x"}, 5, None, []]
    assert_two_steps(write([*odd, *two_steps(), *odd]))


def test_copies_and_memsets(write):
    def copy(name, at, **args):
        category = "gpu_memset" if "set" in name else "gpu_memcpy"
        return ran(name, at, at + 10, at, category=category, **args)

    names = {
        "Memcpy HtoD (Pageable -> Device)": (CopyDirection.HTOD, "Pageable", "Device"),
        "Memcpy DtoH (Device -> Pinned)": (CopyDirection.DTOH, "Device", "Pinned"),
        "Memcpy PtoP (Device -> Device)": (CopyDirection.PTOP, "Device", "Device"),
        "Memcpy DtoD": (CopyDirection.DTOD, None, None),
        "Memcpy HtoD (Unknown -> Device)": (CopyDirection.HTOD, None, "Device"),
        "CopyDeviceToHost": (CopyDirection.DTOH, None, None),
        "Memset (Device)": (CopyDirection.NONE, None, "Device"),
        "Memset (?)": (CopyDirection.NONE, None, None),
    }
    events = [copy(name, 100 * i, bytes=i) for i, name in enumerate(names)]
    copies = read_trace(write([*two_steps(), *events])).copies
    kinds = (*copies.mem_kinds, None)
    told = [
        (CopyDirection(way), kinds[src], kinds[dst])
        for way, src, dst in zip(copies.direction, copies.src_kind, copies.dst_kind, strict=True)
    ]
    assert told == list(names.values())
    assert copies.bytes.tolist() == list(range(len(names)))


def test_operations_of_a_graph_launch_are_its_nodes(write):
    """Kineto of torch 2.11 numbers no nodes; newer ones write "graph node id"."""
    graph = [
        annotation("prefill", 0, 9_000),
        call("cudaGraphLaunch", 100, 200, 1),
        *(ran("gemm", at, at + 100, 1) for at in (1_000, 2_000)),
    ]
    step = steps_of(write(graph))[0]
    assert (step.graph_launches, step.kernels, step.graph_tracing) == (1, 2, "node")
    numbered = [ran("gemm", 1_000, 2_000, 1, **{"graph node id": 12, "graph id": 3})]
    assert read_trace(write([*two_steps()[:2], *numbered])).ops.is_node.tolist() == [True]


def test_begin_and_end_pairs(write):
    """``ph: B`` and ``E``: the same figures; an end without a begin is told."""
    events = []
    for one in two_steps():
        begin = one | {"ph": "B"}
        end = {key: one[key] for key in ("pid", "tid")} | {"ph": "E"}
        end["ts"] = us(ns(one["ts"]) + ns(begin.pop("dur")))
        events += [begin, end]
    path = write(events)
    assert_two_steps(path)
    stray = {"ph": "E", "pid": 1, "tid": 1, "ts": 1.0}
    assert any("never began" in said for said in read_trace(write([*events, stray])).info.warnings)


def test_what_has_no_end_or_no_time_counts_and_is_told(write):
    events = two_steps()
    for position in (3, 5, 6):  # a kernel of the first step; range and call of the second
        del events[position]["dur"]
    trace = read_trace(write(events))
    step = summarize(trace).steps[0]
    assert (step.kernels, step.untimed_operations, step.busy_ns) == (2, 1, 2_000)
    assert step.bounds["busy_ns"] == "lower"
    assert trace.stray_calls == 1
    assert any("annotations have no end" in said for said in trace.info.warnings)


def test_nan_and_infinity_are_no_times(write):
    content = text(two_steps())
    written = f'"ts": {two_steps()[3]["ts"].strip("@")}'
    for odd in ("NaN", "-Infinity", "Infinity", "1e999", '"soon"', "null", "[]"):
        step = steps_of(write.raw(content.replace(written, f'"ts": {odd}').encode()))[0]
        assert (step.kernels, step.untimed_operations) == (2, 1), odd


def test_control_characters_and_broken_letters(write):
    """Kineto has written both into names; what is shown is clean."""
    for raw, shown in ((b"ge\x01mm", "ge\x01mm"), (b"ge\xffmm", "ge\ufffdmm")):
        content = text(two_steps()).encode().replace(b"gemm", raw)
        trace = read_trace(write.raw(content))
        assert shown in trace.strings
        assert "".join(trace.strings).encode("utf-8")
    lone = text(two_steps()).replace("gemm", "ge\\ud800mm").encode()
    assert "".join(read_trace(write.raw(lone)).strings).encode("utf-8")


def test_a_correlation_id_used_again(write):
    events = two_steps()
    for one in events[5:]:
        if "correlation" in one["args"]:
            one["args"]["correlation"] -= 2
    path = write(events)
    assert_two_steps(path)
    assert any("correlation ids" in said for said in read_trace(path).info.warnings)


def test_ids_beyond_all_columns(write):
    events = two_steps()
    events[3]["args"]["stream"] = 2**70
    events[4]["args"]["bytes"] = -(2**80)
    assert_two_steps(write(events))


def test_several_processes_in_one_file(write):
    """Told apart where their correlation ids differ; else refused (test_kineto_refused.py)."""
    other = [
        annotation("prefill", 0, 9_000, pid=5000, tid=5000),
        call("cudaLaunchKernel", 100, 200, 77, pid=5000, tid=5000),
        ran("gemm", 1_000, 2_000, 77),
    ]
    analysis = summarize(read_trace(write([*two_steps(), *other])))
    assert {(s.pid, s.kernels) for s in analysis.steps} == {(PID, 2), (5000, 1)}


def test_hip_calls_of_amds_gpus(write):
    """ROCm's torch.profiler: the same categories, HIP's names, a stream that is an address."""
    names = ("hipExtModuleLaunchKernel", "hipLaunchKernel", "hipModuleLaunchKernel")
    events = [annotation("prefill", 0, 9_000)]
    for number, name in enumerate(names, start=1):
        at = 1_000 * number
        events.append(call(name, at, at + 100, number, stream="0x55d0"))
        events.append(ran("Cijk_Ailk", at + 200, at + 500, number, kind="Dispatch Kernel"))
    events.append(call("hipGraphLaunch", 5_000, 5_100, 9))
    events.append(ran("norm", 5_200, 5_300, 9))
    events.append(call("hipMemcpyWithStream", 6_000, 6_100, 10))
    events.append(
        ran("Memcpy DtoH (Device -> Host)", 6_010, 6_050, 10, category="gpu_memcpy", bytes=4)
    )
    events.append(call("hipStreamSynchronize", 7_000, 7_100, 11))
    events.append(call("hipMalloc", 7_200, 7_300, 12))
    step = steps_of(write(events))[0]
    counts = (step.kernel_launches, step.graph_launches, step.memcpy_calls, step.kernels)
    assert counts == (3, 1, 1, 4)
    assert (step.sync_calls, step.alloc_calls) == (1, 1)


def test_calls_that_kineto_leaves_out_make_bounds(write):
    trace = read_trace(write(two_steps()))
    step = summarize(trace).steps[0]
    assert (step.sync_calls, step.bounds["sync_calls"]) == (0, "lower")
    assert (step.alloc_calls, step.bounds["alloc_calls"]) == (0, "lower")
    assert step.failed_calls is None
    assert any("driver API" in said for said in trace.info.warnings)


def test_profilers_own_step_names(write):
    events = two_steps()
    for one in events:
        one["name"] = one["name"].replace("prefill#", "ProfilerStep#")
    steps = steps_of(write(events))
    assert [(s.range, s.launches) for s in steps] == [("ProfilerStep#0", 2), ("ProfilerStep#1", 2)]
    inner = annotation("execute_context_1(25)_generation_0(0)", 500, 9_000)
    assert [s.phase for s in steps_of(write([*events, inner]))] == ["prefill"]


def test_sizes_of_launches(write):
    """A graph launch ran several kernels: no size is its own."""
    size = {"grid": [25, 1, 1], "block": [128, 1, 1], "shared memory": 16}
    events = [
        annotation("prefill", 0, 9_000),
        call("cudaLaunchKernel", 100, 200, 1),
        call("cudaMemsetAsync", 300, 400, 2),
        call("cudaGraphLaunch", 500, 600, 3),
        ran("gemm", 1_000, 2_000, 1, **size),
        ran("Memset (Device)", 2_000, 2_100, 2, category="gpu_memset", bytes=512),
        *(ran("norm", at, at + 10, 3, **size) for at in (3_000, 4_000)),
    ]
    assert read_sizes(write(events)) == {
        (PID, 1): LaunchSize((25, 1, 1), (128, 1, 1), 16, None),
        (PID, 2): LaunchSize(bytes=512),
    }


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("qwen3-0.6b-eager.torch2.11.json.gz", "qwen3-0.6b-eager.nsys2025.3.sqlite.xz"),
        ("qwen3-0.6b-graph.torch2.11.json.gz", "qwen3-0.6b-cudagraph.node.nsys2025.3.sqlite.xz"),
    ],
)
def test_the_same_model_under_both_tools(name, other):
    """One model on one GPU: nsys and torch.profiler count alike, and busy differs by little."""
    counts = ("launches", "kernel_launches", "graph_launches", "memcpy_calls", "memset_calls")
    counts += ("kernels", "memcpys", "memsets", "graph_tracing")
    steps, others = (steps_of(TRACES / one) for one in (name, other))
    told = {tuple(getattr(s, c) for c in counts) for s in (*steps, *others)}
    assert len(told) == 1
    assert steps[0].kernels == (1569 if "eager" in name else 1723)
    assert steps[0].busy_ns == pytest.approx(others[0].busy_ns, rel=0.02)
