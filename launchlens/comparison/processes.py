"""How many processes stand behind untraced times, and which changes they can show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from launchlens.catalogue import of_role
from launchlens.comparison.margins import BETWEEN_PROCESSES, SMALLEST_RELATIVE
from launchlens.comparison.rows import judge
from launchlens.comparison.sides import Groups
from launchlens.plural import counted
from launchlens.records.comparison import SideInput
from launchlens.records.figures import Group, Phase, Verdict
from launchlens.records.variant import Untraced

IN_DOUBT = "processes differ by as much in a step that waits for the CPU, and a side ran in one"
"""Why an untraced change is inconclusive although the intervals of the steps lie apart."""

_MOSTLY_BUSY = 0.5  # of the untraced step: what does not wait for the CPU does not scatter with it


def process_remarks(sides: Sequence[SideInput], labels: Sequence[str]) -> Iterator[str]:
    """In how many processes untraced times were measured, where that is more than one."""
    by_number: dict[int, list[str]] = {}
    for side, label in zip(sides, labels, strict=True):
        if side.facts.untraced:
            by_number.setdefault(_processes(side), []).append(label)
    if set(by_number) - {1}:
        told = [
            f"{', '.join(who) if len(by_number) > 1 else 'each side'} in "
            f"{'one process' if n == 1 else counted(n, 'process', 'processes')}"
            for n, who in by_number.items()
        ]
        yield (
            f"Untraced, {'; '.join(told)}: times are medians of the processes' medians, and their "
            "intervals cover how processes differ."
        )


def chance_notes(
    sides: Sequence[SideInput], labels: Sequence[str], pairs: Sequence[Groups]
) -> Iterator[str]:
    """Which sides' untraced changes may be chance, in a sentence."""
    doubtful = [
        label
        for index, label in enumerate(labels)
        if index and any(is_in_doubt(sides[0], sides[index], g[0], g[index]) for g in pairs)
    ]
    if doubtful:
        yield (
            f"{', '.join(doubtful)}: the time of a CPU-bound step differs between processes by up "
            f"to {BETWEEN_PROCESSES:.0%}. More processes on both sides (--rounds 5) tell whether "
            "the change is real."
        )


def judge_untraced(before: Untraced, after: Untraced, busy_ns: float | None = None) -> Verdict:
    """Judge an untraced change; one process on a side shows no small one.

    ``busy_ns`` is how long the GPU works in such a step, if that is known.
    """
    base, stat = before.wall_ns, after.wall_ns
    if base.median is None or stat.median is None:
        return "unknown"
    shares = [busy_ns / wall for wall in (base.median, stat.median) if busy_ns and wall]
    if _waits(shares) and _is_small(before, after):
        return "inconclusive"
    return judge(of_role("step")[0], base, stat, SMALLEST_RELATIVE * base.median)


def is_in_doubt(
    base: SideInput, side: SideInput, base_group: Group | None, group: Group | None
) -> bool:
    """Whether an untraced change of this phase, on a side that waits for the CPU, may be chance."""
    phase: Phase = next((g.phase for g in (base_group, group) if g is not None), "unknown")
    before, after = (
        next((u for u in s.facts.untraced if u.phase == phase), None) for s in (base, side)
    )
    if before is None or after is None:
        return False
    (busy_time,) = of_role("busy")
    busy = [g.metrics[busy_time.name].median if g else None for g in (base_group, group)]
    return may_be_chance(before, after, busy)


def may_be_chance(before: Untraced, after: Untraced, busy_ns: Sequence[float | None]) -> bool:
    """The same of two sides by how long their GPUs work in such a step, where that is known."""
    walls = (before.wall_ns.median, after.wall_ns.median)
    shares = [busy / wall for busy, wall in zip(busy_ns, walls, strict=True) if busy and wall]
    return _waits(shares) and _is_small(before, after)


def _waits(shares: Sequence[float]) -> bool:
    """Whether a step waits for the CPU, by the busy shares of its sides, as far as one knows."""
    return not shares or min(shares) < _MOSTLY_BUSY


def _processes(side: SideInput) -> int:
    return max(len(u.processes_ns) for u in side.facts.untraced) or 1


def _is_small(before: Untraced, after: Untraced) -> bool:
    """Whether one process on a side has to show a change that processes differ by anyway."""
    if before.processes_ns and after.processes_ns:
        return False
    old, new = before.wall_ns.median, after.wall_ns.median
    if not old or not new:
        return False
    return abs(new / old - 1) < BETWEEN_PROCESSES
