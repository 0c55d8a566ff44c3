"""What figures need of a trace's events, gathered into columns piece by piece."""

from __future__ import annotations

from typing import Any

import numpy as np

from launchlens.trace.formats.kineto.columns import (
    USUAL,
    Part,
    Table,
    Texts,
    event_columns,
    nanoseconds,
)
from launchlens.trace.formats.kineto.shapes import (
    Annotation,
    DriverCall,
    Kernel,
    Memcpy,
    Memset,
    Operator,
    Overhead,
    PythonCall,
    RuntimeCall,
    as_id,
    as_text,
)
from launchlens.trace.formats.kineto.sink import EventSink
from launchlens.trace.formats.kineto.text import clean

_OF_OPS = ("start", "end", "name", "device", "stream", "correlation", "bytes", "is_node", "kind")
_OPS: dict[type, int] = {Kernel: 0, Memcpy: 1, Memset: 2}
"""`OpKind` of the structs."""


class Tables(EventSink):
    """Calls, operations and annotations as columns; of other events, whether there are any."""

    kept = (
        RuntimeCall,
        DriverCall,
        Kernel,
        Memcpy,
        Memset,
        Annotation,
        Overhead,
        Operator,
        PythonCall,
    )

    def __init__(self) -> None:
        super().__init__()
        self.calls, self.ranges, self.ops = Table((*USUAL, "correlation")), Table(), Table(_OF_OPS)
        self.process_names: dict[int, str] = {}
        self.overhead_ns = 0
        self.has_overhead = self.has_stacks = self.has_operators = False

    @property
    def is_empty(self) -> bool:
        """Whether there was no event of the profiler's."""
        found = (self.calls.parts, self.ops.parts, self.ranges.parts)
        return not any(found) and not self.has_operators and not self.has_stacks

    def take(self, by_kind: dict[type, list[Any]], *, exact: bool) -> None:
        """See `EventSink.take`."""
        made: list[tuple[Table, Part]] = []
        for kind, rows in by_kind.items():
            if kind in (RuntimeCall, DriverCall):
                made.append((self.calls, _calls(rows, self.calls.names, exact=exact)))
            elif kind in _OPS:
                made.append((self.ops, _ops(rows, self.ops.names, _OPS[kind], exact=exact)))
            elif kind is Annotation:
                made.append((self.ranges, event_columns(rows, self.ranges.names, exact=exact)))
        overheads = by_kind.get(Overhead, [])
        overhead = nanoseconds([e.dur for e in overheads], exact=exact)
        for table, part in made:
            table.parts.append(part)
        self.overhead_ns += int(overhead[overhead > 0].sum())
        self.has_overhead |= bool(overheads)
        self.has_stacks |= PythonCall in by_kind
        self.has_operators |= Operator in by_kind

    def take_metadata(self, event: dict[str, Any]) -> None:
        """See `EventSink.take_metadata`: names of processes."""
        args = event.get("args")
        if event.get("name") == "process_name" and isinstance(args, dict):
            name = clean(as_text(args.get("name")))
            self.process_names.setdefault(as_id(event.get("pid")), name)


def _calls(rows: list[Any], names: Texts, *, exact: bool) -> Part:
    correlation = np.array([e.args.correlation for e in rows], np.int64)
    return event_columns(rows, names, exact=exact) | {"correlation": correlation}


def _ops(rows: list[Any], names: Texts, kind: int, *, exact: bool) -> Part:
    args = [e.args for e in rows]
    part = event_columns(rows, names, exact=exact)
    gpu = part.pop("pid")
    device = np.array([a.device for a in args], np.int64)
    if (device < 0).any():
        copied = np.array([a.in_device for a in args], np.int64)
        device = np.where(device >= 0, device, np.where(copied >= 0, copied, gpu))
    part["device"] = device
    part["stream"] = np.array([a.stream for a in args], np.int64)
    part.pop("tid")
    part["correlation"] = np.array([a.correlation for a in args], np.int64)
    part["bytes"] = np.array([a.bytes for a in args], np.int64) if kind else np.full(len(rows), -1)
    part["is_node"] = (np.array([a.graph_node for a in args], np.int64) > 0).astype(np.int8)
    part["kind"] = np.full(len(rows), kind, np.int8)
    return part
