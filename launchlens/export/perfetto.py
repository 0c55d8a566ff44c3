"""One step as Chrome trace JSON, for ui.perfetto.dev and chrome://tracing."""

from __future__ import annotations

import json
from typing import Any

from launchlens.records.timeline import Lane, Timeline
from launchlens.serialize import inert_json

#: Processes of the picture: lanes of the CPU and lanes of the GPU, in this order.
_PROCESSES = {"host": (1, "CPU"), "range": (1, "CPU"), "stream": (2, "GPU"), "gap": (2, "GPU")}


_SAID = ("side", "range", "step", "phase", "window_ns", "bound")


def render_perfetto(timeline: Timeline) -> str:
    """A timeline as a Chrome trace in JSON: a process for CPU and GPU, a thread for each lane.

    ``traceEvents`` are ordered by lane, then start. ``ts`` and ``dur`` are microseconds with three
    decimals, so no nanosecond is lost; ``args`` gives the exact duration as ``duration_ns``.

    Source: the Trace Event Format's complete ("X") and metadata ("M") events.
    """
    events: list[dict[str, Any]] = []
    for pid, name in dict.fromkeys(_PROCESSES.values()):
        events.append(_metadata("process_name", pid, 0, {"name": f"{timeline.side}: {name}"}))
        events.append(_metadata("process_sort_index", pid, 0, {"sort_index": pid}))
    for tid, lane in enumerate(timeline.lanes, start=1):
        events.extend(_lane_events(lane, tid))
    said = {name: getattr(timeline, name) for name in _SAID}
    trace = {"displayTimeUnit": "ns", "otherData": said, "traceEvents": events}
    return inert_json(json.dumps(trace, ensure_ascii=True, separators=(",", ":")))


def _lane_events(lane: Lane, tid: int) -> list[dict[str, Any]]:
    pid = _PROCESSES[lane.role][0]
    events = [
        _metadata("thread_name", pid, tid, {"name": lane.title}),
        _metadata("thread_sort_index", pid, tid, {"sort_index": tid}),
    ]
    # Outer spans first: viewers nest complete events that start together in file order.
    ordered = sorted(lane.spans, key=lambda s: (s.start_ns, -s.duration_ns))
    return events + [
        {
            "name": span.title,
            "cat": f"{lane.role},{span.kind}",
            "ph": "X",
            "ts": span.start_ns / 1000,
            "dur": span.duration_ns / 1000,
            "pid": pid,
            "tid": tid,
            "args": {"kind": span.kind, "duration_ns": span.duration_ns},
        }
        for span in ordered
    ]


def _metadata(name: str, pid: int, tid: int, args: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "ph": "M", "pid": pid, "tid": tid, "args": args}
