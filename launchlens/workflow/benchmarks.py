"""Benchmarks of the sides of a comparison: read, attached, and held against one another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from launchlens.bench import read_benchmarks
from launchlens.errors import UsageError
from launchlens.records.benchmark import BenchmarkResult
from launchlens.records.comparison import Comparison, Difference
from launchlens.workflow.sides import LoadedSide

_ALIKE = 0.02
"""How far apart two means of tokens may be: random lengths scatter."""


def with_benchmarks(sides: Sequence[LoadedSide], files: Sequence[Path]) -> list[LoadedSide]:
    """The sides with their benchmarks: a file for each, in their order.

    Raises:
        UsageError: not as many files as sides.
        LaunchlensError: a file cannot be read.
    """
    if not files:
        return list(sides)
    if len(files) != len(sides):
        raise UsageError(
            f"{len(files)} --bench for {len(sides)} sides.",
            hint="Give one for each side, in the order of the sides.",
        )
    attached = []
    for side, file in zip(sides, files, strict=True):
        facts = replace(side.input.facts, benchmarks=read_benchmarks(file))
        attached.append(replace(side, input=replace(side.input, facts=facts)))
    return attached


def with_benchmark_differences(comparison: Comparison) -> Comparison:
    """The comparison with what makes its benchmarks incomparable: model, tokens, load, tool."""
    loads = [side.facts.benchmarks for side in comparison.sides]
    if not all(loads):
        return comparison
    found = [
        *_texts("benchmark", [_joined(r.tool for r in own) for own in loads], serious=False),
        *_texts("benchmark's model", [_joined(r.model for r in own) for own in loads]),
        *_lengths("benchmark's ISL", [[r.isl for r in own] for own in loads]),
        *_lengths("benchmark's OSL", [[r.osl for r in own] for own in loads]),
        *_texts("benchmark's concurrency", [_levels(own) for own in loads]),
    ]
    return replace(comparison, differences=(*comparison.differences, *found))


def _joined(values: Iterable[str | None]) -> str | None:
    known = sorted({value for value in values if value is not None})
    return ", ".join(known) or None


def _levels(own: Sequence[BenchmarkResult]) -> str | None:
    levels = sorted(r.concurrency for r in own if r.concurrency is not None)
    return ", ".join(f"{level:g}" for level in levels) if len(levels) == len(own) else None


def _texts(what: str, values: Sequence[str | None], *, serious: bool = True) -> list[Difference]:
    if len({value for value in values if value is not None}) < 2:
        return []
    return [Difference(what, tuple(value or "unknown" for value in values), serious=serious)]


def _lengths(what: str, sides: Sequence[Sequence[float | None]]) -> list[Difference]:
    """Tokens by load, where any differs by more than chance."""
    means = [[n for n in own if n is not None] for own in sides]
    base = means[0]
    alike = all(
        len(own) != len(base)
        or all(abs(a - b) <= _ALIKE * max(a, b, 1) for a, b in zip(own, base, strict=True))
        for own in means[1:]
        if own and base
    )
    if alike:
        return []
    shown = tuple(", ".join(f"{n:.4g}" for n in own) or "unknown" for own in means)
    return [Difference(what, shown, serious=True)]
