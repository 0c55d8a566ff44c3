"""What a figure is made of, for one who sees a limit broken: calls, kernels, causes of gaps."""

from __future__ import annotations

from launchlens.calls import kind_name
from launchlens.catalogue import GAPS, by_name, gap_causes, shown_in
from launchlens.records.figures import Group

SHOWN = 4


def explain_value(metric: str, group: Group) -> str | None:
    """The largest parts: "cudaLaunchKernel 3700, cuLaunchKernelEx 128 per step"; None: unknown."""
    parts = _parts(metric, group)
    largest = sorted(parts.items(), key=lambda item: -item[1])[:SHOWN]
    if _is_time(metric):
        total = sum(parts.values()) or 1
        listed = ", ".join(f"{name} {n / total:.0%}" for name, n in largest if n / total >= 0.005)
        return f"idle time by cause: {listed}" if listed else None
    listed = ", ".join(f"{_short(name)} {_amount(metric, n)}" for name, n in largest if n)
    return f"{listed} per step" if listed else None


def explain_change(metric: str, before: Group, after: Group) -> str | None:
    """What changed in a figure's parts between two groups of steps, the largest first."""
    old, new = _parts(metric, before), _parts(metric, after)
    changes = {name: new.get(name, 0) - old.get(name, 0) for name in {*old, *new}}
    largest = sorted(changes.items(), key=lambda item: (-abs(item[1]), item[0]))[:SHOWN]
    listed = ", ".join(
        f"{_short(name)} {'+' if n > 0 else '−'}{_amount(metric, abs(n))}"
        for name, n in largest
        if round(n, 6)
    )
    what = "idle time by cause changed" if _is_time(metric) else "changed"
    return f"{what}, per step: {listed}" if listed else None


def _parts(metric: str, group: Group) -> dict[str, float]:
    """A figure's parts for each step: API calls, kernels, or the causes of gaps."""
    if group.steps == 0:
        return {}
    entry = by_name()[metric]
    if entry == shown_in("kernels"):
        return {row.name: row.count / group.steps for row in group.kernels}
    if _is_time(metric):
        gaps = {cause: group.metrics.get(f"{GAPS}.{cause}") for cause in gap_causes()}
        return {c: s.median for c, s in gaps.items() if s is not None and s.median is not None}
    return {
        row.name: row.count / group.steps
        for row in group.api_calls
        if kind_name(row.name) in entry.calls
    }


def _is_time(metric: str) -> bool:
    return by_name()[metric].unit in ("ns", "fraction")


def _amount(metric: str, number: float) -> str:
    return f"{number:,.0f} ns" if _is_time(metric) else f"{number:.1f}".removesuffix(".0")


def _short(name: str) -> str:
    flat = " ".join(name.split())
    return flat if len(flat) <= 80 else f"{flat[:79]}…"
