"""Kernels that run on one side only, or another number of times."""

from __future__ import annotations

from collections.abc import Sequence

from launchlens.records.comparison import KernelChanges, KernelDiff
from launchlens.records.figures import Group
from launchlens.records.metric import Bound


def kernel_changes(base: Group | None, group: Group | None, label: str) -> KernelChanges:
    """Kernels added, removed or run another number of times per step, longest first."""
    if base is None or group is None:
        return KernelChanges(label, known=False, reason="one side has no such steps")
    for side in (base, group):
        kernels = side.metrics["kernels"]
        if kernels.median is None or kernels.bound is not None:
            reason = side.unknown_reason or "not all kernels are in the trace"
            return KernelChanges(label, known=False, reason=reason)
    before = {k.name: k for k in base.kernels}
    after = {k.name: k for k in group.kernels}
    added, removed, changed = [], [], []
    for name in sorted(before.keys() | after.keys()):
        b, a = before.get(name), after.get(name)
        diff = KernelDiff(
            name=name,
            baseline_count=b.count / base.steps if b else 0.0,
            candidate_count=a.count / group.steps if a else 0.0,
            baseline_ns=round(b.total_ns / base.steps) if b else 0,
            candidate_ns=round(a.total_ns / group.steps) if a else 0,
            baseline_bound=b.total_bound if b else None,
            candidate_bound=a.total_bound if a else None,
        )
        if b is None:
            added.append(diff)
        elif a is None:
            removed.append(diff)
        elif diff.baseline_count != diff.candidate_count:
            changed.append(diff)
    for found in (added, removed, changed):
        found.sort(key=lambda diff: -(diff.baseline_ns + diff.candidate_ns))
    cost_ns, bound = _cost([*added, *removed, *changed])
    return KernelChanges(
        label,
        known=True,
        reason=None,
        added=tuple(added),
        removed=tuple(removed),
        changed=tuple(changed),
        count_change=sum(
            d.candidate_count - d.baseline_count for d in (*added, *removed, *changed)
        ),
        time_change_ns=cost_ns,
        time_bound=bound,
    )


def _cost(diffs: Sequence[KernelDiff]) -> tuple[int | None, Bound | None]:
    """Time of the kernels that came, less that of those that went, and what it is a bound of.

    Where a kernel's number changed, each one that came or went counts as its mean on that side.
    """
    total = 0.0
    bounds: set[Bound] = set()
    for d in diffs:
        more = d.candidate_count - d.baseline_count
        if more > 0:
            total += more * d.candidate_ns / d.candidate_count
            bounds |= {"lower"} if d.candidate_bound else set()
        else:
            total += more * d.baseline_ns / d.baseline_count
            bounds |= {"upper"} if d.baseline_bound else set()
    return (None, None) if len(bounds) > 1 else (round(total), next(iter(bounds), None))
