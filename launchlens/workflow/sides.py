"""Sides of a comparison from what the user names: traces, or variants of stored runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from launchlens.records.comparison import SideInput
from launchlens.records.stored import StoredVariant
from launchlens.records.variant import VariantFacts
from launchlens.workflow.blockers import find_blockers_of, with_looked
from launchlens.workflow.load import Choices, Loaded, load


@dataclass(frozen=True, slots=True)
class LoadedSide:
    """A side with the trace its figures come from, for timelines; None where none was read."""

    input: SideInput
    loaded: Loaded | None


def load_sides(
    references: Sequence[str], choices: Choices, runs: Path | None, *, blockers: bool = False
) -> list[LoadedSide]:
    """Read each side in turn. What exists as a file is a trace, anything else a stored run.

    Raises:
        TraceError: a trace that cannot be read, or what is neither a file nor a run.
        StoreError: a run without such a variant, or with several and none is named.
    """
    return [load_side(reference, choices, runs, blockers=blockers) for reference in references]


def load_side(
    reference: str, choices: Choices, runs: Path | None, *, blockers: bool = False
) -> LoadedSide:
    """One side, as `load_sides`."""
    path = Path(reference)
    if path.exists() and not path.is_dir():
        side = side_of_trace(path, choices)
    else:
        from launchlens.workflow.references import find_variant

        side = side_of_variant(find_variant(reference, runs), choices)
    side = replace(side, input=replace(side.input, reference=reference))
    return with_blockers(side) if blockers else side


def side_of_trace(path: Path, choices: Choices) -> LoadedSide:
    """A trace alone: figures, and no facts beyond it."""
    loaded = load(path, choices)
    return LoadedSide(SideInput(loaded.analysis.trace.label, loaded.analysis), loaded)


def side_of_variant(variant: StoredVariant, choices: Choices) -> LoadedSide:
    """A stored variant: figures from its traces, read again as ``choices`` say."""
    counts = variant.traces.get("node") or variant.traces.get("none")
    if counts is None:
        counts = next(iter(variant.traces.values()), None)
    timing = variant.traces.get("graph")
    loaded = load(counts.file, choices) if counts else None
    timed = load(timing.file, choices) if timing and timing is not counts else None
    side = SideInput(
        label=variant_label(variant.facts, variant.name, otherwise=variant.run_id),
        analysis=loaded.analysis if loaded else None,
        timing=timed.analysis if timed else None,
        facts=with_traits(variant.facts),
        findings=variant.findings,
    )
    return LoadedSide(side, loaded)


def with_traits(facts: VariantFacts) -> VariantFacts:
    """The facts with what the program's own variants say of themselves; older runs lack it."""
    from launchlens.harness.variants import built_in

    variant = built_in(facts.variant)
    if variant is None or facts.captures is not None:
        return facts
    return replace(facts, captures=variant.captures, prepares=variant.prepares)


def variant_label(facts: VariantFacts, variant: str, *, otherwise: str) -> str:
    """Name of a variant in reports: its model, whether that was shortened, and the variant."""
    return f"{model_label(facts.model or otherwise, facts.shortened)}-{variant}"


def model_label(model: str, shortened: str | None) -> str:
    """Name of a model in reports: without its owner or folder, and with how it was shortened."""
    name = model.rstrip("/").rpartition("/")[2]
    return f"{name} ({shortened})" if shortened else name


def with_blockers(side: LoadedSide) -> LoadedSide:
    """The side with its capture blockers; one without a trace has none to look for."""
    if side.loaded is None:
        return side
    looked = find_blockers_of(side.loaded)
    analysis = with_looked(side.loaded.analysis, looked)
    told = replace(
        side.input, analysis=analysis, findings=looked.findings, blockers_unseen=looked.unseen
    )
    return replace(side, input=told)
