"""How many processes stand behind untraced times, and which changes they can show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from launchlens.comparing.metrics import BETWEEN_PROCESSES, BY_NAME, SMALLEST_RELATIVE
from launchlens.comparing.rows import judge
from launchlens.comparing.sides import Groups
from launchlens.model.comparison import SideInput
from launchlens.model.figures import Group, Verdict
from launchlens.model.measured import Untraced

_MOSTLY_BUSY = 0.5  # of the untraced step: what does not wait for the CPU does not scatter with it


def process_notes(
    sides: Sequence[SideInput], labels: Sequence[str], pairs: Sequence[Groups]
) -> Iterator[str]:
    """What a reader must know of the processes behind untraced times, in sentences."""
    numbers = sorted({len(u.processes_ns) for s in sides for u in s.facts.untraced} - {0})
    if numbers:
        yield (
            f"untraced times are medians over {' or '.join(map(str, numbers))} processes, which "
            "took turns; their intervals cover how processes differ."
        )
    doubtful = [
        label
        for index, label in enumerate(labels)
        if index and any(is_in_doubt(sides[0], sides[index], g[0], g[index]) for g in pairs)
    ]
    if doubtful:
        yield (
            f"{', '.join(doubtful)}: a launch-bound step's time differs between processes, by up "
            f"to {BETWEEN_PROCESSES:.0%}, and untraced each side ran in one: --rounds 3 tells "
            "whether the change is more."
        )


def judge_untraced(before: Untraced, after: Untraced) -> Verdict:
    """Judge an untraced change of a launch-bound step; one process on a side shows no small one.

    Returns:
        better, worse, same or inconclusive; unknown where a side has no time.
    """
    base, stat = before.wall_ns, after.wall_ns
    if base.median is None or stat.median is None:
        return "unknown"
    if _is_small(before, after):
        return "inconclusive"
    return judge(BY_NAME["untraced_ns"], base, stat, SMALLEST_RELATIVE * base.median)


def _is_small(before: Untraced, after: Untraced) -> bool:
    """Whether one process on a side has to show a change that processes differ by anyway."""
    if before.processes_ns and after.processes_ns:
        return False
    old, new = before.wall_ns.median, after.wall_ns.median
    return bool(old and new) and abs(float(new or 0) / float(old or 1) - 1) < BETWEEN_PROCESSES


def is_in_doubt(
    base: SideInput, side: SideInput, base_group: Group | None, group: Group | None
) -> bool:
    """Whether an untraced change of this phase, on a side that waits for the CPU, may be chance."""
    phase = next((g.phase for g in (base_group, group) if g is not None), "unknown")
    before, after = (
        next((u for u in s.facts.untraced if u.phase == phase), None) for s in (base, side)
    )
    if before is None or after is None or not _is_small(before, after):
        return False
    shares = [
        busy / wall
        for g, u in ((base_group, before), (group, after))
        if g is not None and (busy := g.metrics["busy_ns"].median) and (wall := u.wall_ns.median)
    ]
    return not shares or min(shares) < _MOSTLY_BUSY
