"""Untraced times that forecasts are set beside: of stored runs, or given by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from launchlens.errors import StoreError, UsageError
from launchlens.workflow.forecasting.wanted import Wanted
from launchlens.workflow.load import Choices, Loaded, load

if TYPE_CHECKING:
    from launchlens.forecast import KnownTime
    from launchlens.records.figures import Group
    from launchlens.records.variant import VariantFacts


def load_eager(
    reference: str, choices: Choices, runs: Path | None
) -> tuple[Loaded, dict[str, KnownTime]]:
    """A trace by its path, or the trace of a stored variant with its untraced times.

    Raises:
        TraceError: it cannot be read, or there is neither such a file nor such a run.
        StoreError: the run has no such variant, or that left no trace.
    """
    path = Path(reference)
    if path.exists() and not path.is_dir():
        return load(path, choices), {}
    from launchlens.workflow.references import find_variant

    variant = find_variant(reference, runs)
    kept = variant.traces.get("none") or variant.traces.get("node")
    if kept is None:
        raise StoreError(
            f"{variant.reference} has no trace of its operations to forecast from.",
            hint="Name the eager variant of a run.",
        )
    return load(kept.file, choices), known_times(variant.facts)


def known_times(facts: VariantFacts) -> dict[str, KnownTime]:
    """Untraced times of a variant by phase."""
    from launchlens.forecast import KnownTime

    found: dict[str, KnownTime] = {}
    for timed in facts.untraced:
        wall = timed.wall_ns
        if wall.median is not None:
            low = wall.median if wall.ci_low is None else wall.ci_low
            high = wall.median if wall.ci_high is None else wall.ci_high
            step, *ends = (round(ns) for ns in (wall.median, low, high))
            found[timed.phase] = KnownTime(step, ends[0], ends[1], "measured")
    return found


def parse_times(texts: Sequence[str]) -> dict[str | None, float]:
    """``[PHASE:]MS`` of ``--untraced-ms``.

    Raises:
        UsageError: no positive number of milliseconds, or a phase twice.
    """
    found: dict[str | None, float] = {}
    for text in texts:
        phase, _, number = text.rpartition(":")
        try:
            ms = float(number)
        except ValueError:
            ms = math.nan
        if not 0 < ms < 1e7 or (phase or None) in found:
            raise UsageError(
                f"--untraced-ms {text!r} is no time of a step in milliseconds.",
                hint="For example --untraced-ms 26.3, or --untraced-ms decode:12.5.",
            )
        found[phase or None] = ms
    return found


def known_time(wanted: Wanted, group: Group) -> KnownTime | None:
    """The untraced time of a group's steps, where it was given or measured."""
    from launchlens.forecast import KnownTime

    ms = wanted.given.get(group.phase, wanted.given.get(None))
    if ms is None:
        return wanted.untraced.get(group.phase)
    ns = round(ms * 1e6)
    return KnownTime(ns, ns, ns, "given")


def check_given(given: Mapping[str | None, float], phases: Sequence[str]) -> None:
    """Refuse untraced times that are of no phase of the trace, or of one that is not named."""
    there = ", ".join(dict.fromkeys(phases))
    if None in given and len(set(phases)) > 1:
        raise UsageError(
            f"--untraced-ms must say of which phase it is, as the trace has several: {there}.",
            hint=f"For example --untraced-ms {phases[0]}:{given[None]:g}, or choose a --phase.",
        )
    for phase in given:
        if phase is not None and phase not in phases:
            raise UsageError(f"--untraced-ms {phase}:…: the trace has no such steps, but {there}.")
