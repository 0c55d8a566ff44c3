"""Steps that overlap: submitted while the work of the one before still runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from launchlens.records.figures import Group, Step

_LITTLE = 0.05
"""Part of a step's window below which an overlap is not worth a word."""


def overlap_notes(steps: Sequence[Step], groups: Sequence[Group]) -> Iterable[str]:
    """A sentence for each group of steps most of which begin before the one before has ended.

    An engine that schedules asynchronously submits a step while the last one runs on the GPU. The
    window of a step, from its range's start to the end of its last operation, then holds the work
    of two, and is longer than the time from one step's end to the next one's, which is what a token
    takes. Only steps of the same thread and phase that follow each other are compared.
    """
    threads: dict[tuple[int, int | None, int], list[tuple[Step, int]]] = defaultdict(list)
    for step in steps:
        if step.window_ns:
            threads[step.pid, step.device, step.tid].append((step, step.window_ns))
    shared: dict[tuple[str, int, int | None], list[tuple[float, float]]] = defaultdict(list)
    for own in threads.values():
        for (before, length), (step, window) in pairwise(sorted(own, key=_start)):
            if before.phase != step.phase:
                continue
            done = before.start_ns + length
            part = min(1.0, max(0, done - step.start_ns) / window)
            apart = step.start_ns + window - done
            shared[step.phase, step.pid, step.device].append((part, apart))
    for group in groups:
        found = shared[group.phase, group.pid, group.device]
        if not found or (part := float(np.median([part for part, _ in found]))) <= _LITTLE:
            continue
        apart_ms = float(np.median([apart for part, apart in found if part > 0])) / 1e6
        yield (
            f"{group.phase} steps overlap: work of the step before fills {part:.0%} of a step's "
            "window (median), as each is submitted before the last has finished. One is done every "
            f"{apart_ms:.3g} ms: compare that, not the step's time."
        )


def _start(step: tuple[Step, int]) -> int:
    return step[0].start_ns
