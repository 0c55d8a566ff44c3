"""How large each launch and memset was: ``grid``, ``block``, ``shared memory`` and ``bytes``."""

from __future__ import annotations

from typing import Any, Generic

import msgspec

from launchlens.records.launch_sizes import LaunchSize
from launchlens.trace.formats.kineto.document import read_document
from launchlens.trace.formats.kineto.shapes import NO_ID, PlainCall, Time, TimedEvent
from launchlens.trace.formats.kineto.sink import EventSink
from launchlens.trace.interface import TraceFile

Dim = tuple[int, int, int]


class _SizeArgs(msgspec.Struct, gc=False):
    correlation: int = NO_ID
    grid: Dim | None = None
    block: Dim | None = None
    shared_bytes: int | None = msgspec.field(name="shared memory", default=None)
    bytes: int | None = None


class SizedKernel(TimedEvent[Time], Generic[Time], gc=False, tag="kernel"):
    """A kernel with its size."""

    args: _SizeArgs = msgspec.field(default_factory=_SizeArgs)


class SizedMemset(SizedKernel[Time], Generic[Time], gc=False, tag="gpu_memset"):
    """A memset with its size."""


class _Sizes(EventSink):
    kept = (SizedKernel, SizedMemset, PlainCall)

    def __init__(self) -> None:
        super().__init__()
        self.pids: set[int] = set()
        self.found: dict[int, LaunchSize] = {}
        self.several: set[int] = set()

    def take(self, by_kind: dict[type, list[Any]], *, exact: bool) -> None:
        self.pids.update(call.pid for call in by_kind.get(PlainCall, ()))
        for kind in (SizedKernel, SizedMemset):
            for event in by_kind.get(kind, ()):
                args = event.args
                if args.correlation in self.found:
                    self.several.add(args.correlation)
                size = LaunchSize(args.grid, args.block, args.shared_bytes, args.bytes)
                self.found[args.correlation] = size


def read_launch_sizes(file: TraceFile) -> dict[tuple[int, int], LaunchSize]:
    """Sizes of kernels and memsets; those of a call that launched several are left out.

    Empty for a file of several processes.

    Raises:
        TraceError: the file cannot be read.
    """
    sink = _Sizes()
    read_document(file, sink)
    sink.finish()
    if len(sink.pids) != 1:
        return {}
    (pid,) = sink.pids
    return {(pid, n): size for n, size in sink.found.items() if n not in sink.several}
