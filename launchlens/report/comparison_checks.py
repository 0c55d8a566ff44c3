"""What makes a comparison worth less than it looks: said in its first lines."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from launchlens.records.comparison import Comparison, Side
from launchlens.report.phases import lacking_phases
from launchlens.report.words import joined, plain

_DIGITS = 12  # of a digest


def comparison_warnings(comparison: Comparison) -> tuple[str, ...]:
    """Sides that are not alike, phases that one lacks, a baseline that may be the candidate."""
    return tuple(_warnings(comparison))


def _warnings(comparison: Comparison) -> Iterator[str]:
    if not same_traces(comparison):
        yield from _same_words(_same_files(comparison))
    unlike = [f"{d.what} {joined(d.values)}" for d in comparison.differences if d.serious]
    if unlike:
        yield f"the sides differ in more than the change: {'; '.join(map(plain, unlike))}"
    yield from lacking_phases(comparison)
    if swap := _swap(comparison):
        yield swap


def same_traces(comparison: Comparison) -> tuple[str, ...]:
    """That all sides are one trace, by its digest, so that there is nothing to compare; else empty.

    That some of several are stands among the warnings.
    """
    found = _same_files(comparison)
    all_alike = any(len(sides) == len(comparison.sides) for sides in found.values())
    return tuple(_same_words(found)) if all_alike and comparison.candidates else ()


def _same_files(comparison: Comparison) -> dict[str, list[Side]]:
    """Sides of one trace, by its digest, where there are several."""
    named: dict[str, list[Side]] = {}
    for side in comparison.sides:
        if side.trace and side.trace.sha256:
            named.setdefault(side.trace.sha256, []).append(side)
    return {digest: sides for digest, sides in named.items() if len(sides) > 1}


def _same_words(found: dict[str, list[Side]]) -> Iterator[str]:
    for digest, sides in found.items():
        who = " and ".join(plain(side.short) for side in sides)
        yield f"{who} are the same trace (SHA-256 {digest[:_DIGITS]}…): nothing can differ."


def _swap(comparison: Comparison) -> str:
    """A captured baseline beside candidates that are not: probably named the wrong way round."""
    base, candidates = comparison.baseline, comparison.candidates
    if not base.captured or not candidates or any(c.captured is not False for c in candidates):
        return ""
    said = (
        f"the baseline {plain(base.short)} launches CUDA graphs and "
        f"{' and '.join(plain(c.short) for c in candidates)} does not"
    )
    named = [side.reference for side in (*candidates, base)]
    if None in named:
        return f"{said}: were they named the wrong way round?"
    command = shlex.join(["launchlens", "diff", *(name for name in named if name)])
    return f"{said}. The other way round: {command}"
