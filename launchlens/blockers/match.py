"""Ties a harness's dispatch events to the copies of a trace: by order, kind and size.

The harness runs one more step under a mode that sees every operator with its Python stack. Its
events and the step's copies are two recordings of the same sequence, so the n-th fitting event
is the n-th copy. The longest common subsequence of the two tolerates what only one side has: an
operator that copies nothing, a copy below the dispatcher.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import numpy as np

from launchlens.blockers.hits import Direction, Hits, Origin

if TYPE_CHECKING:
    from launchlens.protocol.step import CopyEvent

_DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
# Beyond this many events the quadratic alignment would be felt; a plain walk takes over.
_ALIGNED_LIMIT = 2000
_SYNC_SIZES = frozenset({4, 8})
# repeat_interleave without a size reads two numbers: the size, and whether all counts are
# positive (seen in traces of torch 2.11). The dispatcher shows one operator.
_MORE_READS = {"aten.repeat_interleave": (1,)}


def match_events(hits: Sequence[Hits], events: Sequence[CopyEvent]) -> dict[int, Origin]:
    """Where the steps' copies and waits come from: an origin for API rows that an event fits.

    ``events`` are one step's operators, in order; hits that neither copy nor wait have none.
    """
    usable = [h for h in hits if h.direction is not None]
    if not usable or not events:
        return {}
    row = np.concatenate([h.row for h in usable])
    step = np.concatenate([h.step for h in usable])
    size = np.concatenate([h.bytes for h in usable])
    direction = np.concatenate(
        [np.full(h.row.size, _DIRECTIONS.index(h.direction)) for h in usable]
    )
    events = _with_all_reads(events)
    order = np.lexsort((row, step))
    origins: dict[int, Origin] = {}
    known: dict[tuple[tuple[int, int], ...], list[tuple[int, int]]] = {}
    for one in np.unique(step).tolist():
        members = order[step[order] == one]
        calls = tuple(zip(direction[members].tolist(), size[members].tolist(), strict=True))
        if calls not in known:  # steps are alike: most are aligned once
            known[calls] = _align(calls, events)
        for i, j in known[calls]:
            e = events[j]
            origins[int(row[members[i]])] = Origin.of(e.path, e.line, e.function, e.stack)
    return origins


def _with_all_reads(events: Sequence[CopyEvent]) -> list[CopyEvent]:
    """The events, and one more for each further number that an operator reads."""
    told: list[CopyEvent] = []
    for event in events:
        told.append(event)
        sizes = _MORE_READS.get(event.op, ()) if event.kind == "sync" else ()
        told.extend(replace(event, kind="dtoh", bytes=size) for size in sizes)
    return told


def _fits(call: tuple[int, int], event: CopyEvent) -> bool:
    """Whether an event can be a call: same direction and, where both tell, the same bytes.

    An operator that waits for a number (nonzero, repeat_interleave) says "sync" without bytes;
    in the trace it is a device-to-host copy of one integer.
    """
    direction, size = _DIRECTIONS[call[0]], call[1]
    told = event.bytes
    if event.op.endswith(".query"):
        return direction == "query"
    if event.kind == "sync" and event.op.startswith("aten."):
        # A waiting operator reads its number back; it calls no synchronize of its own.
        return direction == "dtoh" and (size in _SYNC_SIZES if told is None else told == size)
    return event.kind == direction and (told is None or size < 0 or told == size)


def _align(calls: Sequence[tuple[int, int]], events: Sequence[CopyEvent]) -> list[tuple[int, int]]:
    """Pairs (call, event) of a longest common subsequence."""
    if len(calls) * len(events) > _ALIGNED_LIMIT**2:
        return _walk(calls, events)
    width = len(events) + 1
    best = np.zeros((len(calls) + 1, width), np.int32)
    fits = np.array([[_fits(c, e) for e in events] for c in calls], bool)
    for i in range(len(calls) - 1, -1, -1):
        take = best[i + 1, 1:] + fits[i]
        row = np.maximum(take, best[i + 1, :-1])
        # A row's maximum from the right: skipping events costs nothing.
        best[i, :-1] = np.maximum.accumulate(row[::-1])[::-1]
    pairs, i, j = [], 0, 0
    while i < len(calls) and j < len(events):
        if fits[i, j] and best[i, j] == best[i + 1, j + 1] + 1:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i + 1, j] >= best[i, j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _walk(calls: Sequence[tuple[int, int]], events: Sequence[CopyEvent]) -> list[tuple[int, int]]:
    pairs, j = [], 0
    for i, call in enumerate(calls):
        ahead = next((k for k in range(j, len(events)) if _fits(call, events[k])), None)
        if ahead is not None:
            pairs.append((i, ahead))
            j = ahead + 1
    return pairs
