"""Where calls come from: the Python functions and torch's operators around them in time.

Events: ``python_function`` (with_stack=True) and ``cpu_op``, both of the call's own thread.
"""

from __future__ import annotations

import re
import sys
from typing import Any, Generic

import numpy as np

from launchlens.records.stacks import PythonFrame, PythonStack, Stacks
from launchlens.trace.formats.kineto.columns import NO_TIME, Table, event_columns
from launchlens.trace.formats.kineto.document import read_document
from launchlens.trace.formats.kineto.nesting import parents_of
from launchlens.trace.formats.kineto.owners import Owners
from launchlens.trace.formats.kineto.shapes import (
    PlainCall,
    PlainDriverCall,
    Time,
    TimedEvent,
)
from launchlens.trace.formats.kineto.sink import EventSink
from launchlens.trace.interface import TraceFile

NOTE = (
    "lines are those where functions begin: torch.profiler records no others. Recorded "
    "with_stack=True, which stretches the host's times."
)
_FRAME = re.compile(r"(?P<file>[^()]*[^()<>])\((?P<line>\d+)\): (?P<function>.+)")
_CALL, _OPERATOR, _FUNCTION = range(3)


class OperatorEvent(TimedEvent[Time], Generic[Time], gc=False, tag="cpu_op"):
    """An operator of torch's."""


class FunctionEvent(TimedEvent[Time], Generic[Time], gc=False, tag="python_function"):
    """A function of Python's, a built-in one, or a module's call."""


_KINDS: dict[type, int] = {
    PlainCall: _CALL,
    PlainDriverCall: _CALL,
    OperatorEvent: _OPERATOR,
    FunctionEvent: _FUNCTION,
}


class _Frames(EventSink):
    kept = tuple(_KINDS)

    def __init__(self) -> None:
        super().__init__()
        self.table = Table(("start", "end", "pid", "tid", "name", "kind"))

    def take(self, by_kind: dict[type, list[Any]], *, exact: bool) -> None:
        parts = []
        for kind, rows in by_kind.items():
            if kind in _KINDS:
                part = event_columns(rows, self.table.names, exact=exact)
                parts.append(part | {"kind": np.full(len(rows), _KINDS[kind], np.int8)})
        self.table.parts += parts


def read_call_stacks(file: TraceFile) -> Stacks:
    """Read the stack of each call, innermost frame first; empty where there are no frames.

    Raises:
        TraceError: the file cannot be read.
    """
    sink = _Frames()
    read_document(file, sink)
    sink.finish()
    table = sink.table.columns()
    names = sink.table.names.cleaned()
    owners = Owners.of((table["pid"], table["tid"]))
    thread = owners.thread_of(table["pid"], table["tid"])
    start, end, kind = table["start"], table["end"], table["kind"]
    rows = np.flatnonzero((thread >= 0) & (start != NO_TIME) & (end >= start))
    # The outer of two that start together comes first: it ends later, or Python before torch.
    order = rows[np.lexsort((-kind[rows], -end[rows], start[rows], thread[rows]))]
    thread, start, kind, name = thread[order], start[order], kind[order], table["name"][order]
    parent = parents_of(thread, start, end[order])
    paths = _Paths(names, kind, name, parent)
    keys = owners.threads
    stacks = []
    for row in np.flatnonzero((kind == _CALL) & (parent >= 0)).tolist():
        frames, operators = paths.of(int(parent[row]))
        if frames or operators:
            stacks.append(
                PythonStack(int(start[row]), int(keys[thread[row]]), frames, operators=operators)
            )
    has_functions = bool((kind == _FUNCTION).any())
    return Stacks(python=tuple(stacks), note=NOTE if has_functions else None)


Path = tuple[tuple[PythonFrame, ...], tuple[str, ...]]


class _Paths:
    """Frames and operators from an event outwards; what is alike is one object."""

    def __init__(self, names: tuple[str, ...], kind: Any, name: Any, parent: Any) -> None:
        self._names, self._kind, self._name, self._parent = names, kind, name, parent
        self._frames: dict[int, PythonFrame | None] = {}
        self._path_of: dict[int, int] = {-1: 0}
        self._paths: list[Path] = [((), ())]
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._shown: dict[int, Path] = {}

    def of(self, event: int) -> Path:
        """Frames of the program and operators, innermost first."""
        number = self._number(event)
        if number not in self._shown:
            frames, operators = self._paths[number]
            own = tuple(f for f in frames if not _is_pythons_own(f))
            # A program may be called profile.py: its file is one of Python's by name alone.
            is_told = any(not f.file.startswith("torch/") for f in own)
            self._shown[number] = own if is_told else frames, tuple(dict.fromkeys(operators))
        return self._shown[number]

    def _number(self, event: int) -> int:
        outwards = []
        while event not in self._path_of:
            outwards.append(event)
            event = int(self._parent[event])
        number = self._path_of[event]
        for inner in reversed(outwards):
            key = number, int(self._name[inner]), int(self._kind[inner])
            if key not in self._numbers:
                self._numbers[key] = len(self._paths)
                self._paths.append(self._longer(self._paths[number], *key[1:]))
            number = self._path_of[inner] = self._numbers[key]
        return number

    def _longer(self, path: Path, name: int, kind: int) -> Path:
        frames, operators = path
        if kind == _OPERATOR:
            return frames, (self._names[name], *operators)
        if kind != _FUNCTION:
            return path
        if name not in self._frames:
            match = _FRAME.fullmatch(self._names[name])
            self._frames[name] = match and PythonFrame(
                match["function"], match["file"], int(match["line"])
            )
        frame = self._frames[name]
        return ((frame, *frames) if frame else frames), operators


def _is_pythons_own(frame: PythonFrame) -> bool:
    """Whether a file is of the standard library: torch leaves out the folder where it lies."""
    return frame.file.split("/")[0].removesuffix(".py") in sys.stdlib_module_names
