"""Events of a trace gathered into columns, piece by piece."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from launchlens.records.columns import IntColumn
from launchlens.trace.formats.kineto.pairs import Pairs
from launchlens.trace.formats.kineto.pieces import InexactTimeError
from launchlens.trace.formats.kineto.shapes import (
    TIMED,
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
    shaped,
)
from launchlens.trace.formats.kineto.text import clean

NO_TIME = np.iinfo(np.int64).min
_EXACT_BELOW_US = 2.0**43
"""Floats below it are less than a nanosecond apart, so that the nearest nanosecond is the one that
was written: 101 days after ``baseTimeNanoseconds``. Before torch 2.4 times counted from 1970."""
_LATEST_US = 2**62 // 1000
_ODD_AT_ONCE = 10_000


class Texts(dict[str, int]):
    """Numbers texts by the order of their first sight."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number

    def cleaned(self) -> tuple[str, ...]:
        """All texts, in order, fit for any document."""
        return tuple(map(clean, self))


_USUAL = ("start", "end", "pid", "tid", "name")
_OF_OPS = ("start", "end", "name", "device", "stream", "correlation", "bytes", "is_node", "kind")
Part = dict[str, npt.NDArray[np.signedinteger[Any]]]


@dataclass(slots=True)
class Table:
    """Columns of one kind of event, in parts of one piece each; ``names`` is what they share."""

    empty: tuple[str, ...]
    """Names of the columns, for when there is no event."""
    names: Texts = field(default_factory=Texts)
    parts: list[Part] = field(default_factory=list)

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """Whole columns, each of shape (events,). Parts are freed as they are joined."""
        if not self.parts:
            self.parts = [dict.fromkeys(self.empty, np.empty(0, np.int64))]
        names = list(self.parts[0])
        return {name: np.concatenate([part.pop(name) for part in self.parts]) for name in names}


class Tables:
    """The columns of all events that figures need; a `pieces.Sink`."""

    kept = (*TIMED, Operator, PythonCall)

    def __init__(self) -> None:
        self.calls, self.ranges = Table((*_USUAL, "correlation")), Table(_USUAL)
        self.ops = Table(_OF_OPS)
        self.process_names: dict[int, str] = {}
        self.overhead_ns = 0
        self.has_overhead = self.has_stacks = self.has_operators = False
        self.seen = 0
        """Events of any kind."""
        self._pairs = Pairs()
        self._odd: list[Any] = []

    @property
    def is_empty(self) -> bool:
        """Whether there was no event of the profiler's."""
        found = (self.calls.parts, self.ops.parts, self.ranges.parts)
        return not any(found) and not self.has_operators and not self.has_stacks

    def add(self, events: list[Any]) -> None:
        """See `pieces.Sink`."""
        by_kind: dict[type, list[Any]] = defaultdict(list)
        for event in events:
            by_kind[type(event)].append(event)
        made: list[tuple[Table, Part]] = []
        for kind, rows in by_kind.items():
            if kind in (RuntimeCall, DriverCall):
                made.append((self.calls, _calls(rows, self.calls.names)))
            elif kind in _OPS:
                made.append((self.ops, _ops(rows, self.ops.names, _OPS[kind])))
            elif kind is Annotation:
                made.append((self.ranges, _events(rows, self.ranges.names)))
        overheads = by_kind.get(Overhead, [])
        overhead = nanoseconds([e.dur for e in overheads])
        for table, part in made:
            table.parts.append(part)
        self.overhead_ns += int(overhead[overhead > 0].sum())
        self.has_overhead |= bool(overheads)
        self.has_stacks |= PythonCall in by_kind
        self.has_operators |= Operator in by_kind
        self.seen += len(events)

    def add_odd(self, event: Any) -> None:
        """See `pieces.Sink`."""
        self.seen += 1
        if not isinstance(event, dict):
            return
        phase = event.get("ph")
        if phase == "M" and event.get("name") == "process_name":
            args = event.get("args")
            name = as_text(args.get("name")) if isinstance(args, dict) else ""
            self.process_names.setdefault(as_id(event.get("pid")), clean(name))
        elif phase in ("B", "E"):
            self._pairs.add(event)
        elif phase == "X":
            self._odd.append(shaped(event))
            if len(self._odd) >= _ODD_AT_ONCE:
                self._add_odd_ones()

    def finish(self) -> int:
        """Make events of those that were written as a begin and an end.

        Returns:
            The number of ends that close nothing.
        """
        self._odd += [shaped(event) for event in self._pairs.joined()]
        self._add_odd_ones()
        return self._pairs.strays

    def _add_odd_ones(self) -> None:
        seen = self.seen
        self.add([event for event in self._odd if event is not None])
        self.seen, self._odd = seen, []


_OPS: dict[type, int] = {Kernel: 0, Memcpy: 1, Memset: 2}
"""`OpKind` of the structs."""


def nanoseconds(times: Sequence[float | Decimal]) -> IntColumn:
    """Times in microseconds as nanoseconds, `NO_TIME` for NaN; shape (times,).

    Raises:
        InexactTimeError: floats so large that they are more than a nanosecond apart.
    """
    if Decimal not in set(map(type, times)):
        us = np.array(times, np.float64)
        known = ~np.isnan(us)
        if (np.abs(us[known]) >= _EXACT_BELOW_US).any():
            raise InexactTimeError
        ns = np.full(us.size, NO_TIME, np.int64)
        ns[known] = np.rint(us[known] * 1000)
        return ns
    return np.array([_exactly(time) for time in times], np.int64)


def _exactly(time: float | Decimal) -> int:
    if math.isnan(time) or abs(Decimal(time)) > _LATEST_US:
        return NO_TIME
    return int((Decimal(time) * 1000).to_integral_value())


def _events(rows: list[Any], names: Texts) -> Part:
    start, length = nanoseconds([e.ts for e in rows]), nanoseconds([e.dur for e in rows])
    unknown = (start == NO_TIME) | (length == NO_TIME)
    return {
        "start": start,
        "end": np.where(unknown, NO_TIME, start + length),
        "pid": np.array([e.pid for e in rows], np.int64),
        "tid": np.array([e.tid for e in rows], np.int64),
        "name": np.array([names[e.name] for e in rows], np.int32),
    }


def _calls(rows: list[Any], names: Texts) -> Part:
    return _events(rows, names) | {"correlation": _ids(rows, lambda args: args.correlation)}


def _ops(rows: list[Any], names: Texts, kind: int) -> Part:
    args = [e.args for e in rows]
    device = np.array([a.device if a.device >= 0 else a.in_device for a in args], np.int64)
    part = _events(rows, names)
    part["device"] = np.where(device < 0, part.pop("pid"), device)
    part["stream"] = np.array([a.stream for a in args], np.int64)
    part.pop("tid")
    part["correlation"] = np.array([a.correlation for a in args], np.int64)
    part["bytes"] = np.array([a.bytes for a in args], np.int64) if kind else np.full(len(rows), -1)
    part["is_node"] = np.array([a.graph_node > 0 for a in args], np.int8)
    part["kind"] = np.full(len(rows), kind, np.int8)
    return part


def _ids(rows: list[Any], of: Callable[[Any], int]) -> IntColumn:
    return np.array([of(e.args) for e in rows], np.int64)
