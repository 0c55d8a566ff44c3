"""What a graph would freeze: launches that differ between two recordings of the same shapes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from launchlens.blockers import Search
from launchlens.blockers.grouping import make_findings
from launchlens.blockers.hits import Hits
from launchlens.blockers.rules import frozen_launch
from launchlens.blockers.view import View, kernel_names, make_view, see_calls
from launchlens.blockers.words import only_at_first
from launchlens.kernel_names import short_kernel
from launchlens.plural import counted
from launchlens.records.columns import Trace
from launchlens.records.figures import Finding, Step
from launchlens.records.launch_sizes import Dim, LaunchSize, LaunchSizes

_ALIGNED_LIMIT = 1500
"""Of longer stretches that differ only the beginning is told: aligning them would be felt."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A trace, its steps, and how large its launches are."""

    trace: Trace
    steps: Sequence[Step]
    sizes: LaunchSizes


@dataclass(frozen=True, slots=True)
class Compared(Search):
    """Findings, why there may be more, and how many pairs of steps were set side by side."""

    pairs: int


def search_between(first: Recording, second: Recording) -> Compared:
    """Kernels, copies and memsets that are not alike in the n-th steps of two eager recordings.

    Both run the same shapes with other values. A grid, a block, shared memory, a number of bytes or
    a launch that is there in one only would be frozen by a capture.
    """
    findings: list[Finding] = []
    unseen: list[str] = []
    pairs = 0
    for phase in dict.fromkeys(step.phase for step in first.steps):
        views = [
            make_view(r.trace, see_calls(r.trace), [s for s in r.steps if s.phase == phase])
            for r in (first, second)
        ]
        alike = [
            (a, b)
            for a, b in zip(views[0].steps, views[1].steps, strict=False)
            if a.tokens == b.tokens and not a.graph_launches and not b.graph_launches
        ]
        whole = [
            pair for pair in alike if not any(s.lost_launches or s.unknown_reason for s in pair)
        ]
        if lost := len(alike) - len(whole):
            unseen.append(
                f"in {counted(lost, f'pair of {phase} steps', f'pairs of {phase} steps')} rows of "
                "launched work are missing: what only one of the two shows may be lost in the "
                "other."
            )
        left = max(views[0].size, views[1].size) - len(alike)
        if left:
            unseen.append(
                f"{counted(left, f'{phase} step')} without an eager step of the same shape in the "
                "other recording."
            )
        if not whole:
            continue
        pairs += len(whole)
        one, other = (
            make_view(r.trace, see_calls(r.trace), steps)
            for r, steps in zip((first, second), zip(*whole, strict=True), strict=True)
        )
        known = (first.sizes, second.sizes)
        for hits in _differing(one, other, known):
            findings += [f.finding for f in make_findings(one, frozen_launch.RULE, hits, {})]
    if not first.sizes or not second.sizes:
        unseen.append("a recording does not tell how large its launches are.")
    if not pairs:
        unseen.append("no step of one recording could be set beside a step of the other.")
    findings.sort(key=lambda f: -f.count_per_step)
    return Compared(tuple(findings), tuple(unseen), pairs)


def _differing(one: View, other: View, sizes: tuple[LaunchSizes, LaunchSizes]) -> list[Hits]:
    """Differences, those of one kind and one kernel together."""
    found: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    words: dict[tuple[str, ...], str] = {}
    for i in range(one.size):
        pair = _launches(one, i, sizes[0]), _launches(other, i, sizes[1])
        for kernel, said, row in _step_differences(*pair):
            key = kernel, *said
            words.setdefault(key, f"{kernel}: {', '.join(said.values())}")
            found.setdefault(key, []).append((i, row))
    hits = []
    for key, places in found.items():
        step = np.array([i for i, _ in places], np.int64)
        rows = np.array([row for _, row in places], np.int64)
        none = np.full(step.size, -1, np.int64)
        early = only_at_first(one, step)
        hits.append(
            Hits(
                words[key],
                step,
                rows,
                none,
                none,
                none,
                "suspected" if early else "likely",
                frozen_launch.FIRST_NOTE if early else None,
                timed=False,
                on_replay=frozen_launch.ON_REPLAY,
            )
        )
    return hits


@dataclass(frozen=True, slots=True)
class _Launch:
    row: int
    name: str
    size: LaunchSize


def _launches(view: View, step: int, sizes: LaunchSizes) -> list[_Launch]:
    """What a step submits, in order."""
    low, high = np.searchsorted(view.submitting, [view.first[step], view.last[step]])
    rows = view.submitting[low:high]
    ops, trace = view.op_of_call[rows], view.trace
    copied = dict(zip(trace.copies.op_row.tolist(), trace.copies.bytes.tolist(), strict=True))
    pid = view.steps[step].pid
    found = []
    for row, op, name in zip(rows.tolist(), ops.tolist(), kernel_names(view, ops), strict=True):
        size = sizes.get((pid, int(trace.ops.correlation_id[op])), LaunchSize())
        if op in copied:
            size = LaunchSize(bytes=copied[op])
        found.append(_Launch(row, name, size))
    return found


def _step_differences(
    a: list[_Launch], b: list[_Launch]
) -> Iterator[tuple[str, dict[str, str], int]]:
    """Differences of two steps: kernel, what of it in words, row of the first step."""
    names = [launch.name for launch in a], [launch.name for launch in b]
    for tag, a1, a2, b1, b2 in _aligned(*names):
        if tag == "equal":
            for mine, theirs in zip(a[a1:a2], b[b1:b2], strict=True):
                if said := _sizes_differ(mine.size, theirs.size):
                    yield short_kernel(mine.name), said, mine.row
            continue
        for launch in a[a1:a2]:
            yield short_kernel(launch.name), {"first": "only in the first recording"}, launch.row
        row = a[min(a1, len(a) - 1)].row
        for launch in b[b1:b2]:
            yield short_kernel(launch.name), {"second": "only in the second recording"}, row


def _aligned(a: list[str], b: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Stretches of two sequences as `SequenceMatcher.get_opcodes` gives them."""
    shorter = min(len(a), len(b))
    start = next((i for i in range(shorter) if a[i] != b[i]), shorter)
    most = shorter - start
    end = next((i for i in range(most) if a[-1 - i] != b[-1 - i]), most)
    yield "equal", 0, start, 0, start
    inner = a[start : len(a) - end], b[start : len(b) - end]
    if max(map(len, inner)) > _ALIGNED_LIMIT:
        yield "replace", start, start + 1, start, start + 1
        return
    for tag, a1, a2, b1, b2 in SequenceMatcher(None, *inner, autojunk=False).get_opcodes():
        yield tag, start + a1, start + a2, start + b1, start + b2
    yield "equal", len(a) - end, len(a), len(b) - end, len(b)


def _sizes_differ(a: LaunchSize, b: LaunchSize) -> dict[str, str]:
    """What is not alike in two sizes, in words, as far as both are known."""
    said = {}
    for what, mine, theirs in (
        ("grid", a.grid, b.grid),
        ("block", a.block, b.block),
        ("shared memory", a.shared_bytes, b.shared_bytes),
        ("bytes", a.bytes, b.bytes),
    ):
        if mine is not None and theirs is not None and mine != theirs:
            said[what] = f"{what} {_shown(mine)} and {_shown(theirs)}"
    return said


def _shown(value: Dim | int) -> str:
    return "×".join(map(str, value)) if isinstance(value, tuple) else f"{value:,}"
