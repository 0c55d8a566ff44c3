"""Rows of a trace as spans of a timeline, and the window that is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
import numpy.typing as npt

from launchlens.metrics.breakdown import OP_NAMES
from launchlens.records.columns import IntColumn, OpKind, Trace
from launchlens.records.timeline import Span

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a trace that is drawn: one step's window, its thread and device."""

    row: int
    start_ns: int
    end_ns: int
    thread: int
    device: int


def spans(
    names: Sequence[str],
    start_ns: IntColumn,
    end_ns: IntColumn,
    kinds: Iterable[str],
    window: Window,
    ids: Iterable[int | None] = repeat(None),
    prefix: str = "",
) -> tuple[Span, ...]:
    """Spans of rows, their times counted from the window's start."""
    starts = (start_ns - window.start_ns).tolist()
    durations = (end_ns - start_ns).tolist()
    return tuple(map(Span, names, starts, durations, kinds, ids, repeat(prefix)))


def op_names(trace: Trace, rows: IntColumn | Rows) -> list[str]:
    """Names of GPU operations: kernels by their own, others by what they are."""
    kinds, codes = trace.ops.kind[rows].tolist(), trace.ops.name[rows].tolist()
    return [
        OP_NAMES.get(OpKind(kind)) or (trace.strings[code] if code >= 0 else "[kernel]")
        for kind, code in zip(kinds, codes, strict=True)
    ]


def correlation_ids(trace: Trace, ops: IntColumn | Rows, window: Window) -> list[int | None]:
    """Ids of the calls that submitted operations, where calls of the drawn process did."""
    process = trace.threads[window.thread].process
    ours = (trace.ops.api_row[ops] >= 0) & (trace.ops.process[ops] == process)
    ids = trace.ops.correlation_id[ops].tolist()
    return [i if own else None for i, own in zip(ids, ours.tolist(), strict=True)]
