"""Whether sides are comparable: what differs, and what a reader must know first."""

from __future__ import annotations

from collections.abc import Sequence

from launchlens.comparison.processes import process_notes
from launchlens.comparison.sides import Groups
from launchlens.records.comparison import Difference, SideInput
from launchlens.records.figures import Group


def find_differences(sides: Sequence[SideInput], pairs: Sequence[Groups]) -> list[Difference]:
    """What is not alike on all sides. Sides that do not tell are left out of the check."""

    def of_trace(name: str) -> list[object]:
        return [getattr(s.analysis.trace, name) if s.analysis else None for s in sides]

    def of_facts(name: str) -> list[object]:
        return [getattr(s.facts, name) for s in sides]

    def of_group(name: str) -> list[object]:
        return [getattr(g, name) if g else None for g in groups]

    groups = pairs[0]
    # A side without such steps differs, unless it failed: then there is nothing to compare.
    phases: list[object] = [
        g.phase if g else None if s.facts.failure else "none"
        for g, s in zip(groups, sides, strict=True)
    ]
    places: list[object] = [
        len({(g.pid, g.device) for g in s.analysis.summary}) if s.analysis else None for s in sides
    ]
    formats = list(dict.fromkeys(f for f in of_trace("format") if f))
    checks: list[tuple[str, list[object], bool]] = [
        ("GPU", of_trace("gpu"), True),
        ("driver", of_trace("driver"), True),
        ("model", of_facts("model"), True),
        ("ISL", of_facts("isl"), True),
        ("OSL", [s.facts.osl or ("none" if s.facts.isl else None) for s in sides], True),
        ("batch", of_facts("batch"), True),
        ("dtype", of_facts("dtype"), True),
        ("layers", of_facts("layers_note"), True),
        ("tokens per step", of_group("tokens"), True),
        ("phase", phases, True),
        ("graph tracing", of_group("graph_tracing"), False),
        ("trace format", of_trace("format"), False),
        (str(formats[0]) if len(formats) == 1 else "recorder", of_trace("nsys_version"), False),
        ("steps", of_group("steps"), False),
        ("commit", of_facts("commit_text"), False),
        ("processes and devices", places, True),
    ]
    found = []
    for what, values, serious in checks:
        known = {str(v) for v in values if v is not None}
        if len(known) > 1:
            shown = tuple("unknown" if v is None else str(v) for v in values)
            found.append(Difference(what, shown, serious=serious))
    return found


def _told(side: SideInput, groups: Sequence[Group | None]) -> list[str]:
    """What one side says of itself; what all say alike needs saying once."""
    told = [side.facts.layers_note] if side.facts.layers_note else []
    told += side.facts.notes
    reason = next((g.unknown_reason for g in groups if g is not None), None)
    if reason:
        told.append(f"some figures are unknown: {reason}")
    if side.analysis is not None:
        told += [*side.analysis.trace.warnings, *side.analysis.notes]
    return told


def reader_notes(
    sides: Sequence[SideInput], labels: Sequence[str], pairs: Sequence[Groups]
) -> list[str]:
    """What a reader must know before trusting the comparison, in sentences."""
    notes = []
    tracing = {g.graph_tracing for g in pairs[0] if g}
    if "graph" in tracing and "node" in tracing:
        notes.append(
            "node-level and whole-graph tracing are set side by side: take counts from the "
            "node-level side and times from the whole-graph or untraced side."
        )
    for side, label in zip(sides, labels, strict=True):
        if (failure := side.facts.failure) is not None:
            where = f" at {failure.source}" if failure.source else ""
            said = f"{label} {failure.words}{where}: {failure.error_line}"
            more = [failure.hint] if failure.hint else []
            more += [f"Its output is in {failure.log}."] if failure.log else []
            notes.append(" ".join([said if said.endswith(".") or not more else f"{said}.", *more]))
    told = [_told(side, [g[index] for g in pairs]) for index, side in enumerate(sides)]
    for note in dict.fromkeys(note for own in told for note in own):
        who = [label for own, label in zip(told, labels, strict=True) if note in own]
        everyone = len(who) == len(sides)
        notes.append(note if everyone else f"{', '.join(who)}: {note}")
    notes += process_notes(sides, labels, pairs)
    if not any(side.facts.untraced for side in sides):
        notes.append(
            "all times are traced: tracing lengthens CPU-bound steps most, so idle is "
            "overstated. Time the steps without a profiler before quoting a speed-up."
        )
    return notes
