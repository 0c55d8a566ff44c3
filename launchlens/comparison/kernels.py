"""Kernels that run on one side only, or another number of times."""

from __future__ import annotations

from launchlens.records.comparison import KernelChanges, KernelDiff
from launchlens.records.figures import Group


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
        )
        if b is None:
            added.append(diff)
        elif a is None:
            removed.append(diff)
        elif diff.baseline_count != diff.candidate_count:
            changed.append(diff)
    for found in (added, removed, changed):
        found.sort(key=lambda diff: -(diff.baseline_ns + diff.candidate_ns))
    return KernelChanges(
        label,
        known=True,
        reason=None,
        added=tuple(added),
        removed=tuple(removed),
        changed=tuple(changed),
    )
