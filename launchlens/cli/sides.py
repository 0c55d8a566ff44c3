"""Sides of a comparison from what the user names: traces, or variants of stored runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from launchlens.cli.inputs import Choices, Loaded, load
from launchlens.model.comparison import SideInput

if TYPE_CHECKING:
    from launchlens.store.records import StoredVariant


@dataclass(frozen=True, slots=True)
class LoadedSide:
    """A side with the trace its figures come from, for timelines; None where none was read."""

    input: SideInput
    loaded: Loaded | None


def load_sides(references: Sequence[str], choices: Choices, runs: Path | None) -> list[LoadedSide]:
    """Read each side in turn. What exists as a file is a trace, anything else a stored run.

    Raises:
        TraceError: a trace that cannot be read.
        StoreError: no such run or variant.
    """
    return [_load_side(reference, choices, runs) for reference in references]


def _load_side(reference: str, choices: Choices, runs: Path | None) -> LoadedSide:
    path = Path(reference)
    if path.exists() or not _looks_like_run(reference):
        loaded = load(path, choices)
        return LoadedSide(SideInput(loaded.analysis.trace.label, loaded.analysis), loaded)
    from launchlens.store import resolve, runs_root

    return side_of_variant(resolve(runs_root(runs), reference), choices)


def _looks_like_run(reference: str) -> bool:
    """Whether it may name a run: no folder and no suffix, as paths of traces have."""
    name = reference.partition(":")[0]
    return "/" not in name and "." not in name


def side_of_variant(variant: StoredVariant, choices: Choices) -> LoadedSide:
    """A stored variant: figures from its traces, read again as ``choices`` say."""
    counts = variant.traces.get("node") or variant.traces.get("none")
    if counts is None:
        counts = next(iter(variant.traces.values()), None)
    timing = variant.traces.get("graph")
    loaded = load(counts.file, choices) if counts else None
    timed = load(timing.file, choices) if timing and timing is not counts else None
    model = variant.facts.model or variant.run_id
    side = SideInput(
        label=f"{model}-{variant.name}",
        analysis=loaded.analysis if loaded else None,
        timing=timed.analysis if timed else None,
        facts=variant.facts,
    )
    return LoadedSide(side, loaded)
