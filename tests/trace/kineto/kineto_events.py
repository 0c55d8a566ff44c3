"""Events of torch.profiler, drawn by hand; all values are made up. Times in nanoseconds."""

from __future__ import annotations

import json
import re

PID, TID = 4100, 4101
BASE_NS = 5_350_462_956_249_143
"""Where the drawn clock begins: as far from ``baseTimeNanoseconds`` as in the shipped traces."""


def us(ns):
    """As Kineto writes a time: microseconds with three decimals (see `text`)."""
    return f"@{ns // 1000}.{ns % 1000:03d}@"


def ns(time):
    """What `us` made a time of."""
    return int(time.strip("@").replace(".", ""))


def event(category, name, start, end, *, pid=PID, tid=TID, **args):
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": pid,
        "tid": tid,
        "ts": us(BASE_NS + start),
        "dur": us(end - start),
        "args": args,
    }


def annotation(name, start, end, **more):
    return event("user_annotation", name, start, end, **more)


def call(name, start, end, correlation, *, category="cuda_runtime", **more):
    return event(category, name, start, end, correlation=correlation, **more)


def ran(name, start, end, correlation, *, category="kernel", device=0, stream=7, **args):
    return event(
        category,
        name,
        start,
        end,
        pid=device,
        tid=stream,
        correlation=correlation,
        device=device,
        stream=stream,
        **args,
    )


def two_steps():
    """Two steps of 10,000 ns with two kernels each: 1,000 + 2,000 of it busy."""
    events = []
    for number, at in enumerate((0, 20_000)):
        first, second = 2 * number + 1, 2 * number + 2
        events += [
            annotation(f"prefill#{number}", at, at + 10_000),
            call("cudaLaunchKernel", at + 1_000, at + 1_500, first),
            call("cudaLaunchKernel", at + 3_000, at + 3_500, second),
            ran("gemm", at + 2_000, at + 3_000, first),
            ran("norm", at + 4_000, at + 6_000, second),
        ]
    return events


def document(events, **facts):
    head = {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "Abacus 9"}],
        "cuda_driver_version": 13000,
        "baseTimeNanoseconds": 1_790_857_026_000_000_000,
    }
    return {**head, **facts, "traceEvents": events, "traceName": "made-up.json"}


def text(events, **facts):
    return numbers_of(json.dumps(document(events, **facts)))


def numbers_of(content):
    """Times with the digits that they were made from, which Python's floats would not keep."""
    return re.sub(r'"@([\d.]+)@"', r"\1", content)


class Written:
    """Writes files of events into a folder."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, events, name="trace.json", **facts):
        return self.raw(text(events, **facts).encode(), name)

    def raw(self, content, name="trace.json"):
        path = self.folder / name
        path.write_bytes(content)
        return path
