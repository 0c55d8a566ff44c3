"""Which sizes to capture: the exact best choice under limits, by dynamic programming.

An engine rounds a step up to the next captured size, and runs what is larger than all eagerly. So
the time of all steps falls apart into stretches of sizes that share a bucket, and the best choice
whose largest bucket is known follows from the best choices with smaller ones.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from launchlens.errors import LaunchlensError


@dataclass(frozen=True, slots=True)
class Point:
    """What a step of one size takes, measured."""

    size: int
    captured_ns: float
    eager_ns: float
    memory_bytes: float = 0.0
    """GPU memory that capturing this size adds to the pool that all graphs share."""
    capture_ns: float = 0.0
    """Time that capturing it takes at start-up."""


class Curves:
    """Times and costs of any size between the smallest and largest measured, by straight lines."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._points = sorted(points, key=lambda p: p.size)
        self._sizes = [p.size for p in self._points]
        if len(set(self._sizes)) != len(self._sizes):
            raise LaunchlensError("The measured points name a size twice.")

    @property
    def sizes(self) -> list[int]:
        """The sizes measured, ascending."""
        return self._sizes

    def at(self, size: int) -> Point:
        """What a size takes.

        Raises:
            LaunchlensError: it lies outside of what was measured.
        """
        place = bisect_left(self._sizes, size)
        if place < len(self._sizes) and self._sizes[place] == size:
            return self._points[place]
        if place in (0, len(self._sizes)):
            raise LaunchlensError(
                f"Size {size} lies outside of the sizes measured, {self._sizes[0]} to "
                f"{self._sizes[-1]}.",
                hint="Measure a point there, or leave such steps out.",
            )
        a, b = self._points[place - 1], self._points[place]
        part = (size - a.size) / (b.size - a.size)

        def between(x: float, y: float) -> float:
            return x + part * (y - x)

        return Point(
            size,
            between(a.captured_ns, b.captured_ns),
            between(a.eager_ns, b.eager_ns),
            between(a.memory_bytes, b.memory_bytes),
            between(a.capture_ns, b.capture_ns),
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """What captured sizes may cost together; None: no limit."""

    most: int | None = None
    memory_bytes: float | None = None
    capture_ns: float | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """Captured sizes, and what all steps take with them."""

    sizes: tuple[int, ...]
    step_ns: float
    memory_bytes: float
    capture_ns: float


@dataclass(frozen=True, slots=True)
class _Label:
    """A choice whose largest size is known, with the steps up to it accounted for."""

    ns: float
    memory: float
    capture: float
    sizes: tuple[int, ...] = field(default=())

    def beats(self, other: _Label) -> bool:
        """Whether it is no worse in anything that a limit or the aim asks for."""
        return (
            self.ns <= other.ns
            and self.memory <= other.memory
            and self.capture <= other.capture
            and len(self.sizes) <= len(other.sizes)
        )


def choose(counts: Mapping[int, int], curves: Curves, limits: Limits) -> Choice:
    """The sizes that minimise the time of all steps, within the limits.

    Only sizes that occur need to be looked at: any other can be replaced by the largest one that
    is rounded up to it, where larger graphs take no less time and memory.

    Args:
        counts: how many steps there are of each size.
        curves: what a step of any of these sizes takes.
        limits: what the choice may cost.

    Raises:
        LaunchlensError: a size lies outside of the curves.
    """
    sizes = sorted(counts)
    points = [curves.at(size) for size in sizes]
    eager = [counts[p.size] * p.eager_ns for p in points]
    after = [sum(eager[i:]) for i in range(len(sizes) + 1)]
    open_ends: list[list[_Label]] = [[_Label(0.0, 0.0, 0.0)]]
    best = _Label(after[0], 0.0, 0.0)
    for end, point in enumerate(points):
        labels: list[_Label] = []
        steps = 0
        for begin in range(end, -1, -1):
            steps += counts[sizes[begin]]
            for label in open_ends[begin]:
                made = _Label(
                    label.ns + steps * point.captured_ns,
                    label.memory + point.memory_bytes,
                    label.capture + point.capture_ns,
                    (*label.sizes, point.size),
                )
                if _fits(made, limits):
                    labels.append(made)
        kept = _undominated(labels)
        open_ends.append(kept)
        for label in kept:
            total = label.ns + after[end + 1]
            if (total, len(label.sizes)) < (best.ns, len(best.sizes)):
                best = _Label(total, label.memory, label.capture, label.sizes)
    return Choice(best.sizes, best.ns, best.memory, best.capture)


def _fits(label: _Label, limits: Limits) -> bool:
    return (
        (limits.most is None or len(label.sizes) <= limits.most)
        and (limits.memory_bytes is None or label.memory <= limits.memory_bytes)
        and (limits.capture_ns is None or label.capture <= limits.capture_ns)
    )


def _undominated(labels: list[_Label]) -> list[_Label]:
    kept: list[_Label] = []
    for label in sorted(labels, key=lambda x: (x.ns, x.memory, x.capture, len(x.sizes))):
        if not any(other.beats(label) for other in kept):
            kept.append(label)
    return kept


def cost_of(sizes: Sequence[int], counts: Mapping[int, int], curves: Curves) -> Choice:
    """What all steps take with these captured sizes; those beyond the curves are left out.

    Raises:
        LaunchlensError: a step's size lies outside of the curves.
    """
    known = [s for s in sorted(sizes) if curves.sizes[0] <= s <= curves.sizes[-1]]
    total = 0.0
    for size, count in counts.items():
        place = bisect_left(known, size)
        rounded = place < len(known)
        ns = curves.at(known[place]).captured_ns if rounded else curves.at(size).eager_ns
        total += count * ns
    points = [curves.at(size) for size in known]
    return Choice(
        tuple(known),
        total,
        sum(p.memory_bytes for p in points),
        sum(p.capture_ns for p in points),
    )
