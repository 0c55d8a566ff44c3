"""Steps as Chrome trace JSON, for ui.perfetto.dev and chrome://tracing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from launchlens.kernel_names import short_names
from launchlens.records.timeline import Lane, Span, Timeline
from launchlens.serialize import inert_json

_PROCESS_OF = {"host": "CPU", "range": "CPU", "stream": "GPU", "gap": "GPU"}
"""The process of a picture to which lanes of a role belong."""
_PROCESSES = ("CPU", "GPU")
_SAID = ("side", "range", "step", "phase", "window_ns", "bound")

Event = dict[str, Any]


def render_perfetto(timelines: Sequence[Timeline]) -> str:
    """Timelines as one Chrome trace in JSON: for each a process for CPU and GPU, a thread a lane.

    All of them start at 0, so that steps of several traces lie beside one another. ``traceEvents``
    are ordered by lane, then start. ``ts`` and ``dur`` are microseconds with three decimals, so no
    nanosecond is lost; ``args`` gives the exact duration as ``duration_ns``, the correlation id,
    and the whole name where a short one is shown. An arrow leads from each call to every operation
    that it submitted. ``otherData.steps`` says which steps these are.

    Source: the Trace Event Format's complete ("X"), metadata ("M") and flow ("s", "f") events.
    """
    short = short_names(s.name for t in timelines for lane in t.lanes for s in _kernels(lane))
    events: list[Event] = []
    threads, arrows = count(1), count(1)
    for number, timeline in enumerate(timelines):
        pids = {name: len(_PROCESSES) * number + i for i, name in enumerate(_PROCESSES, start=1)}
        for name, pid in pids.items():
            events.append(_metadata("process_name", pid, 0, {"name": f"{timeline.side}: {name}"}))
            events.append(_metadata("process_sort_index", pid, 0, {"sort_index": pid}))
        placed = [(lane, pids[_PROCESS_OF[lane.role]], next(threads)) for lane in timeline.lanes]
        for lane, pid, tid in placed:
            events.extend(_lane_events(lane, pid, tid, short))
        events.extend(_arrows(placed, arrows))
    said = [{name: getattr(t, name) for name in _SAID} for t in timelines]
    trace = {"displayTimeUnit": "ns", "otherData": {"steps": said}, "traceEvents": events}
    return inert_json(json.dumps(trace, ensure_ascii=True, separators=(",", ":")))


def _kernels(lane: Lane) -> Sequence[Span]:
    """Bars that are called by what runs on a GPU; calls and ranges have short names already."""
    return lane.spans if lane.role in ("stream", "gap") else ()


def _lane_events(lane: Lane, pid: int, tid: int, short: Mapping[str, str]) -> Iterator[Event]:
    yield _metadata("thread_name", pid, tid, {"name": lane.title})
    yield _metadata("thread_sort_index", pid, tid, {"sort_index": tid})
    called = short if _kernels(lane) else {}
    # Outer spans first: viewers nest complete events that start together in file order.
    for span in sorted(lane.spans, key=lambda s: (s.start_ns, -s.duration_ns)):
        name = called.get(span.name, span.name)
        args: Event = {"kind": span.kind, "duration_ns": span.duration_ns}
        if span.correlation_id is not None:
            args["correlation_id"] = span.correlation_id
        if name != span.name:
            args["name"] = span.title
        yield {
            "name": span.prefix + name,
            "cat": f"{lane.role},{span.kind}",
            "ph": "X",
            "ts": span.start_ns / 1000,
            "dur": span.duration_ns / 1000,
            "pid": pid,
            "tid": tid,
            "args": args,
        }


def _arrows(placed: Sequence[tuple[Lane, int, int]], numbers: Iterator[int]) -> Iterator[Event]:
    """A pair of flow events for each operation whose call is in the picture too.

    A flow event belongs to the bar around its instant; an id of its own keeps the arrows of a call
    with many operations (a graph's) from becoming a chain.
    """
    calls: dict[int, tuple[Span, int, int]] = {}
    for lane, pid, tid in placed:
        if lane.role == "host":
            for span in lane.spans:
                if span.correlation_id is not None:
                    calls.setdefault(span.correlation_id, (span, pid, tid))
    for lane, pid, tid in placed:
        for span in lane.spans if lane.role == "stream" else ():
            call = calls.get(span.correlation_id) if span.correlation_id is not None else None
            if call is not None:
                number = next(numbers)
                yield _end_of_arrow(number, *call) | {"ph": "s"}
                yield _end_of_arrow(number, span, pid, tid) | {"ph": "f", "bp": "e"}


def _end_of_arrow(number: int, span: Span, pid: int, tid: int) -> Event:
    place = {"ts": span.start_ns / 1000, "pid": pid, "tid": tid}
    return {"name": "launch", "cat": "launch", "id": number, **place}


def _metadata(name: str, pid: int, tid: int, args: Event) -> Event:
    return {"name": name, "ph": "M", "pid": pid, "tid": tid, "args": args}
