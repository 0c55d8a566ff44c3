"""Sides of a comparison: their labels, and which of their groups belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from launchlens.records.comparison import SideInput
from launchlens.records.figures import Group, Phase

Groups = tuple[Group | None, ...]


def distinct_labels(sides: Sequence[SideInput]) -> list[str]:
    """Labels as given; equal ones are numbered, so that no two columns share a name."""
    counts = Counter(s.label for s in sides)
    seen: Counter[str] = Counter()
    labels = []
    for side in sides:
        seen[side.label] += 1
        numbered = counts[side.label] > 1
        labels.append(f"{side.label} ({seen[side.label]})" if numbered else side.label)
    return labels


def short_labels(labels: Sequence[str]) -> list[str]:
    """Labels without the words they all begin with, for columns: "eager", "cudagraph"."""
    parts = [label.split("-") for label in labels]
    common = 0
    while all(len(p) > common + 1 for p in parts) and len({p[common] for p in parts}) == 1:
        common += 1
    shortened = ["-".join(p[common:]) for p in parts]
    return shortened if len(set(shortened)) == len(labels) else list(labels)


def pair_groups(sides: Sequence[SideInput]) -> list[Groups]:
    """Groups that belong together: same phase, and the n-th (process, device) of each side."""
    by_phase: dict[Phase, list[list[Group]]] = {}
    for index, side in enumerate(sides):
        for group in side.analysis.summary if side.analysis else ():
            columns = by_phase.setdefault(group.phase, [[] for _ in sides])
            columns[index].append(group)
    pairs: list[Groups] = []
    for columns in by_phase.values():
        for n in range(max(len(c) for c in columns)):
            pairs.append(tuple(c[n] if n < len(c) else None for c in columns))  # noqa: PERF401
    return pairs or [tuple(None for _ in sides)]


def untraced_phases(sides: Sequence[SideInput]) -> list[Phase]:
    """Phases that any side was timed in, where no side has a trace to tell them; at least one."""
    timed = dict.fromkeys(u.phase for side in sides for u in side.facts.untraced)
    return list(timed) or ["unknown"]


def timing_group(side: SideInput, group: Group) -> Group | None:
    """The group of the whole-graph trace that corresponds to ``group``."""
    assert side.analysis is not None
    if side.timing is None:
        return None
    same_phase = [g for g in side.analysis.summary if g.phase == group.phase]
    others = [g for g in side.timing.summary if g.phase == group.phase]
    n = same_phase.index(group)
    return others[n] if n < len(others) else None
