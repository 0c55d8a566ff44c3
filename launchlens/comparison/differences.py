"""Whether sides are comparable: what differs, and what a reader must know first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from launchlens.comparison.processes import chance_notes, process_remarks
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


def _doubts(side: SideInput, groups: Sequence[Group | None]) -> list[str]:
    """What makes a side's own figures doubtful."""
    reason = next((g.unknown_reason for g in groups if g is not None), None)
    told = [f"some figures are unknown: {reason}"] if reason else []
    if side.analysis is not None:
        told += [*side.analysis.trace.warnings, *side.analysis.notes]
    return told


def _told_once(labels: Sequence[str], told: Sequence[Sequence[str]]) -> Iterator[str]:
    """What sides say, each with their names; what all say alike stands without."""
    for note in dict.fromkeys(note for own in told for note in own):
        who = [label for own, label in zip(told, labels, strict=True) if note in own]
        yield note if len(who) == len(labels) else f"{', '.join(who)}: {note}"


def reader_notes(
    sides: Sequence[SideInput], labels: Sequence[str], pairs: Sequence[Groups]
) -> list[str]:
    """What makes figures doubtful, in sentences."""
    notes = []
    tracing = {g.graph_tracing for g in pairs[0] if g}
    if "graph" in tracing and "node" in tracing:
        notes.append(
            "node-level and whole-graph tracing are set side by side: take counts from the "
            "node-level side and times from the whole-graph or untraced side."
        )
    doubts = [_doubts(side, [g[index] for g in pairs]) for index, side in enumerate(sides)]
    return [*notes, *_told_once(labels, doubts), *chance_notes(sides, labels, pairs)]


def reader_remarks(sides: Sequence[SideInput], labels: Sequence[str]) -> list[str]:
    """What else a reader should know of the sides, in sentences."""
    told = [[*filter(None, [s.facts.layers_note]), *s.facts.notes] for s in sides]
    remarks = [*_told_once(labels, told), *process_remarks(sides, labels)]
    if not any(side.facts.untraced for side in sides):
        remarks.append(
            "All times are traced: tracing lengthens CPU-bound steps most, so idle is "
            "overstated. Time the steps without a profiler before quoting a speed-up."
        )
    return remarks
