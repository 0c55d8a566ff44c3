"""How steps ran: replayed as one graph, in pieces, or eagerly, by phase and number of tokens."""

from __future__ import annotations

import statistics
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from launchlens.records.figures import PHASES, ReplayState, Step

State = Literal["one_graph", "pieces", "eager", "capturing", "unknown"]


@dataclass(frozen=True, slots=True)
class _Whole:
    """A step on all its devices together."""

    step: Step
    state: State
    kernel_launches: int | None


def replay_states(
    steps: Sequence[Step], captured_sizes: Mapping[str, Sequence[int]] | None = None
) -> tuple[ReplayState, ...]:
    """How many steps of each phase, process and bucket of tokens ran in which way.

    Args:
        steps: every step, a record for each of its devices.
        captured_sizes: numbers of tokens for which the engine captured graphs, by phase. They
            are then the buckets, and a replayed step is padded to the smallest that holds it.
    """
    sizes = {phase: sorted(set(own)) for phase, own in (captured_sizes or {}).items()}
    records: dict[int, list[Step]] = {}
    for step in steps:
        records.setdefault(step.index, []).append(step)
    buckets: dict[tuple[str, int, tuple[int, int] | None], list[_Whole]] = {}
    for parts in records.values():
        first = parts[0]
        key = (first.phase, first.pid, _bucket(first.tokens, sizes.get(first.phase, ())))
        buckets.setdefault(key, []).append(_Whole(first, _state(parts), _kernel_launches(parts)))
    found = [
        _replay_state(members, bucket, sizes.get(phase, ()))
        for (phase, _, bucket), members in buckets.items()
    ]
    return tuple(sorted(found, key=lambda r: (PHASES.index(r.phase), r.pid, r.tokens_from or 0)))


def _bucket(tokens: int | None, sizes: Sequence[int]) -> tuple[int, int] | None:
    """Fewest and most tokens of the bucket; powers of two beyond the sizes that were captured."""
    if tokens is None:
        return None
    at = bisect_left(sizes, tokens)
    if at < len(sizes):
        return (sizes[at - 1] + 1 if at else 1), sizes[at]
    high = 1 << max(tokens - 1, 0).bit_length()
    return max(high // 2 + 1, sizes[-1] + 1 if sizes else 1), high


def _state(parts: Sequence[Step]) -> State:
    """How a step ran: by its graph launches on all devices, where they can be counted."""
    counts = [part.graph_launches for part in parts]
    known = [n for n in counts if n is not None]
    total = sum(known)
    if total > 1:
        return "pieces"
    if len(known) < len(counts) or any("graph_launches" in part.bounds for part in parts):
        return "unknown"
    if total == 1:
        return "one_graph"
    return "capturing" if any(part.captured_calls for part in parts) else "eager"


def _kernel_launches(parts: Sequence[Step]) -> int | None:
    known = [part.kernel_launches for part in parts if part.kernel_launches is not None]
    return sum(known) if len(known) == len(parts) else None


def _replay_state(
    members: Sequence[_Whole], bucket: tuple[int, int] | None, sizes: Sequence[int]
) -> ReplayState:
    counted = Counter(one.state for one in members)
    beside = [one.kernel_launches for one in members if one.kernel_launches is not None]
    first = members[0].step
    return ReplayState(
        phase=first.phase,
        pid=first.pid,
        tokens_from=bucket[0] if bucket else None,
        tokens_to=bucket[1] if bucket else None,
        steps=len(members),
        one_graph=counted["one_graph"],
        pieces=counted["pieces"],
        eager=counted["eager"],
        capturing=counted["capturing"],
        unknown=counted["unknown"],
        launches_beside=statistics.median(beside) if len(beside) == len(members) else None,
        padding=_padding(members, sizes),
    )


def _padding(members: Sequence[_Whole], sizes: Sequence[int]) -> float | None:
    """Tokens computed over tokens asked for, of the steps that replayed; None where not known."""
    asked = padded = 0
    for one in members:
        if one.state not in ("one_graph", "pieces"):
            continue
        tokens = one.step.tokens
        if not tokens or (at := bisect_left(sizes, tokens)) == len(sizes):
            return None
        asked += tokens
        padded += sizes[at]
    return padded / asked if asked else None
