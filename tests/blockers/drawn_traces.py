"""Traces drawn by hand for the rules: calls on one line each, times in nanoseconds.

    trace, steps = draw([call("cudaLaunchKernel", 10, 15, kernel("gemm", 20, 90)), …])

A call may carry the GPU operation it submits. Steps are windows on thread 0 of process 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from launchlens.records.columns import (
    ApiTable,
    CopyTable,
    Device,
    OpKind,
    OpTable,
    Process,
    RangeTable,
    Thread,
    Trace,
)
from launchlens.records.figures import Step, TraceInfo

MEM_KINDS = ("Pageable", "Pinned", "Device", "Managed", "Unknown")
INFO = TraceInfo(
    "drawn.sqlite", "drawn", None, None, None, None, None, None, None, True, 0, 0, 0, None
)


@dataclass(frozen=True)
class Op:
    kind: OpKind
    name: str | None
    start: int
    end: int
    stream: int = 7
    bytes: int = -1
    copy_kind: int = -1
    src: str | None = None
    dst: str | None = None
    is_node: bool = False


@dataclass(frozen=True)
class Call:
    name: str
    start: int
    end: int
    op: Op | None = None
    thread: int = 0
    chain: int = 0


def kernel(name, start, end, stream=7):
    return Op(OpKind.KERNEL, name, start, end, stream)


def htod(size, start, end, src="Pageable", stream=7, is_node=False):
    return Op(OpKind.MEMCPY, None, start, end, stream, size, 1, src, "Device", is_node)


def dtoh(size, start, end, dst="Pageable", stream=7):
    return Op(OpKind.MEMCPY, None, start, end, stream, size, 2, "Device", dst)


def call(name, start, end, op=None, thread=0, chain=0):
    return Call(name, start, end, op, thread, chain)


def launch(start, name="gemm", gpu=None, stream=7):
    """A kernel launch of 5 ns whose kernel runs from 10 ns later for 20 ns, or as told."""
    begin, end = gpu or (start + 10, start + 30)
    return call("cudaLaunchKernel_v7000", start, start + 5, kernel(name, begin, end, stream))


def shift(calls, by):
    """The same calls later: the next step."""
    moved = []
    for c in calls:
        op = c.op and replace(c.op, start=c.op.start + by, end=c.op.end + by)
        moved.append(replace(c, start=c.start + by, end=c.end + by, op=op))
    return moved


def draw(calls, windows=((0, 1000),), ranges=()):
    """A trace of the calls, and a step for each window. ``ranges``: (text, start, end)."""
    calls = sorted(calls, key=lambda c: (c.thread, c.start))
    names = list(dict.fromkeys(c.name for c in calls))
    owners = [(i, c.op) for i, c in enumerate(calls) if c.op]
    owners.sort(key=lambda pair: pair[1].start)
    strings = list(dict.fromkeys(op.name for _, op in owners if op.name))
    ints, small = np.int64, np.int32
    api = ApiTable(
        start_ns=np.array([c.start for c in calls], ints),
        end_ns=np.array([c.end for c in calls], ints),
        process=np.zeros(len(calls), small),
        thread=np.array([c.thread for c in calls], small),
        correlation_id=np.arange(len(calls), dtype=ints),
        name=np.array([names.index(c.name) for c in calls], small),
        names=tuple(names),
        callchain_id=np.array([c.chain for c in calls], small),
    )
    ops = OpTable(
        start_ns=np.array([op.start for _, op in owners], ints),
        end_ns=np.array([op.end for _, op in owners], ints),
        kind=np.array([op.kind for _, op in owners], np.int8),
        process=np.zeros(len(owners), small),
        device=np.zeros(len(owners), small),
        stream_id=np.array([op.stream for _, op in owners], small),
        correlation_id=np.array([i for i, _ in owners], ints),
        name=np.array([strings.index(op.name) if op.name else -1 for _, op in owners], small),
        is_node=np.array([op.is_node for _, op in owners], bool),
        api_row=np.array([i for i, _ in owners], small),
    )
    copied = [(k, op) for k, (_, op) in enumerate(owners) if op.copy_kind >= 0]
    copies = CopyTable(
        op_row=np.array([k for k, _ in copied], small),
        bytes=np.array([op.bytes for _, op in copied], ints),
        direction=np.array([op.copy_kind for _, op in copied], np.int8),
        src_kind=np.array([MEM_KINDS.index(op.src) for _, op in copied], small),
        dst_kind=np.array([MEM_KINDS.index(op.dst) for _, op in copied], small),
        mem_kinds=MEM_KINDS,
    )
    texts = list(dict.fromkeys(text for text, _, _ in ranges))
    marked = sorted(ranges, key=lambda r: r[1])
    table = RangeTable(
        start_ns=np.array([r[1] for r in marked], ints),
        end_ns=np.array([r[2] for r in marked], ints),
        process=np.zeros(len(marked), small),
        thread=np.zeros(len(marked), small),
        text=np.array([texts.index(r[0]) for r in marked], small),
        texts=tuple(texts),
        domain=np.zeros(len(marked), small),
        domains=("",),
        payload=np.full(len(marked), np.iinfo(np.int64).min, ints),
    )
    threads = max((c.thread for c in calls), default=0) + 1
    trace = Trace(
        info=INFO,
        api=api,
        ops=ops,
        copies=copies,
        ranges=table,
        processes=(Process(1 << 24, 100),),
        threads=tuple(Thread((1 << 24) + 100 + i, 100 + i, 0) for i in range(threads)),
        devices=(Device(0, 0, 0),),
        strings=tuple(strings),
        has_api=True,
    )
    return trace, [step(i, *window) for i, window in enumerate(windows)]


def step(index, start, end, phase="prefill", **changes):
    fields = dict.fromkeys(Step.__dataclass_fields__)
    fields |= {"index": index, "range": f"prefill#{index}", "domain": "", "engine": "generic"}
    fields |= {"phase": phase, "pid": 100, "tid": 100, "start_ns": start, "end_ns": end}
    fields |= {"cpu_ns": end - start, "graph_launches": 0}
    return Step(**(fields | changes))
