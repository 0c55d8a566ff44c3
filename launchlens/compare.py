"""`compare`: two or more sides become one `Comparison` with changes and verdicts.

Rooms that render draw from this record and compute no number of their own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from launchlens.errors import UsageError
from launchlens.model.comparison import (
    Cell,
    Comparison,
    Difference,
    KernelChanges,
    KernelDiff,
    PhaseComparison,
    Row,
    Side,
    SideInput,
)
from launchlens.model.figures import Analysis, Group, Phase, Stat, Verdict

SMALLEST_RELATIVE = 0.02
"""Smallest difference of a time, a rate or a size that matters: 2% of the baseline."""

SMALLEST_IDLE = 0.01
"""Smallest difference of an idle fraction that matters: one percentage point."""

SMALLEST_COUNT = 0.5
"""Smallest difference of a count that matters: anything from one up."""


@dataclass(frozen=True, slots=True)
class Metric:
    """How a metric is compared and named. ``direction`` -1: less is better, 0: neither."""

    name: str
    title: str
    unit: str
    direction: int
    headline: bool = False
    timed: bool = False  # a time that whole-graph tracing gives with less inflation


METRICS: tuple[Metric, ...] = (
    Metric("launches", "launches per step", "count", -1, headline=True),
    Metric("kernel_launches", "kernel launches", "count", -1),
    Metric("graph_launches", "graph launches", "count", 0),
    Metric("memcpy_calls", "memcpy calls", "count", -1),
    Metric("memset_calls", "memset calls", "count", -1),
    Metric("submissions", "submissions", "count", -1),
    Metric("sync_calls", "sync calls", "count", -1, headline=True),
    Metric("alloc_calls", "alloc calls", "count", -1),
    Metric("captured_calls", "captured calls", "count", 0),
    Metric("kernels", "kernels on the GPU", "count", -1, headline=True),
    Metric("memcpys", "memcpys on the GPU", "count", -1),
    Metric("memsets", "memsets on the GPU", "count", -1),
    Metric("graph_spans", "graph spans", "count", 0),
    Metric("untraced_ns", "step, untraced", "ns", -1, headline=True),
    Metric("window_ns", "step, traced", "ns", -1, headline=True, timed=True),
    Metric("inflation", "inflation by tracing", "fraction", 0),
    Metric("idle", "GPU idle, traced", "fraction", -1, headline=True),
    Metric("idle_corrected", "GPU idle, corrected", "fraction", -1, headline=True),
    Metric("idle_kernels_only", "GPU idle, kernels only", "fraction", -1),
    Metric("idle_projected", "GPU idle, projected range", "fraction", -1),
    Metric("busy_ns", "GPU busy", "ns", -1, headline=True),
    Metric("cpu_ns", "range on the CPU", "ns", -1),
    Metric("projected_ns", "projected range", "ns", -1),
    Metric("lead_in_ns", "lead-in", "ns", -1),
    Metric("tail_ns", "tail", "ns", 0),
    Metric("gaps_ns.lead_in", "idle in the lead-in", "ns", -1),
    Metric("gaps_ns.host", "idle waiting for the host", "ns", -1, headline=True),
    Metric("gaps_ns.launch", "idle during launches", "ns", -1, headline=True),
    Metric("gaps_ns.sync", "idle in synchronization", "ns", -1, headline=True),
    Metric("gaps_ns.device", "idle on the device", "ns", -1, headline=True),
    Metric("gaps_ns.tail", "idle in the tail", "ns", -1),
    Metric("gaps_ns.unlinked", "idle, unlinked", "ns", -1),
    Metric("launch_cost_ns", "launch cost, median call", "ns", -1, headline=True),
    Metric("launch_cost_total_ns", "launch cost, all calls", "ns", -1),
    Metric("inter_launch_ns", "inter-launch interval", "ns", -1),
    Metric("queue_ns", "queue time, median", "ns", 0),
    Metric("tklqt_ns", "TKLQT", "ns", 0),
    Metric("peak_memory_bytes", "peak GPU memory", "bytes", -1),
    Metric("graph_memory_bytes", "graph memory", "bytes", -1),
    Metric("capture_ns", "capture time", "ns", 0),
)


def compare(sides: Sequence[SideInput], *, title: str | None = None) -> Comparison:
    """Compare a baseline (the first side) with candidates.

    Args:
        sides: at least two sides; a side without analysis (a variant that failed) gives
            unknown figures.
        title: what is compared, for headings.

    Returns:
        One `PhaseComparison` for each phase and each pair of (process, device) groups.

    Raises:
        UsageError: fewer than two sides.
    """
    if len(sides) < 2:
        raise UsageError(
            "a comparison needs a baseline and at least one candidate.",
            hint="Name two traces or runs.",
        )
    labels = _distinct_labels(sides)
    shorts = short_labels(labels)
    pairs = _pair_groups(sides)
    phases = tuple(_phase(sides, shorts, groups) for groups in pairs)
    reported = [
        _side(s, label, short, pairs, i)
        for i, (s, label, short) in enumerate(zip(sides, labels, shorts, strict=True))
    ]
    return Comparison(
        schema="launchlens.comparison/1",
        baseline=reported[0],
        candidates=tuple(reported[1:]),
        phases=phases,
        differences=tuple(_differences(sides, pairs)),
        notes=tuple(_notes(sides, labels, pairs)),
        title=title,
    )


# Sides and their groups ---------------------------------------------------------------------

Groups = tuple[Group | None, ...]


def _distinct_labels(sides: Sequence[SideInput]) -> list[str]:
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


def _pair_groups(sides: Sequence[SideInput]) -> list[Groups]:
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


def _timing_group(side: SideInput, group: Group) -> Group | None:
    """The group of the whole-graph trace that corresponds to ``group``."""
    assert side.analysis is not None
    if side.timing is None:
        return None
    same_phase = [g for g in side.analysis.summary if g.phase == group.phase]
    others = [g for g in side.timing.summary if g.phase == group.phase]
    n = same_phase.index(group)
    return others[n] if n < len(others) else None


def _side(side: SideInput, label: str, short: str, pairs: Sequence[Groups], index: int) -> Side:
    group = next((groups[index] for groups in pairs if groups[index] is not None), None)
    return Side(
        label=label,
        short=short,
        trace=side.analysis.trace if side.analysis else None,
        timing_trace=side.timing.trace if side.timing else None,
        facts=side.facts,
        findings=side.findings,
        gap_histogram=group.gap_histogram if group else (),
        kernels=group.kernels if group else (),
        api_calls=group.api_calls if group else (),
        gap_followers=group.gap_followers if group else (),
    )


def _phase(sides: Sequence[SideInput], shorts: Sequence[str], groups: Groups) -> PhaseComparison:
    phase: Phase = next((g.phase for g in groups if g), "unknown")
    rows = []
    for metric in METRICS:
        stats = [
            _stat(side, group, phase, metric) for side, group in zip(sides, groups, strict=True)
        ]
        if any(stat is not None for stat, _ in stats):
            rows.append(_row(metric, stats, groups))
    return PhaseComparison(
        phase=phase,
        groups=tuple(f"process {g.pid}, device {_shown(g.device)}" if g else "-" for g in groups),
        steps=tuple(g.steps if g else 0 for g in groups),
        dropped=tuple(g.dropped if g else 0 for g in groups),
        rows=tuple(rows),
        kernels=tuple(
            _kernel_changes(groups[0], group, short)
            for group, short in zip(groups[1:], shorts[1:], strict=True)
        ),
        bound=tuple(g.bound if g else None for g in groups),
    )


def _shown(device: int | None) -> str:
    return "unknown" if device is None else str(device)


# One metric of one side -----------------------------------------------------------------------


def _stat(
    side: SideInput, group: Group | None, phase: Phase, metric: Metric
) -> tuple[Stat | None, str]:
    """A side's figure and where it comes from: "trace", "graph trace" or "untraced"."""
    derived = _DERIVED.get(metric.name)
    if derived is not None:
        return derived(side, group, phase), "untraced"
    if group is None:
        return None, "trace"
    if metric.timed:
        timing = _timing_group(side, group)
        if timing is not None and timing.metrics[metric.name].median is not None:
            return timing.metrics[metric.name], "graph trace"
    return group.metrics.get(metric.name), "trace"


def _untraced(side: SideInput, _group: Group | None, phase: Phase) -> Stat | None:
    return next((u.wall_ns for u in side.facts.untraced if u.phase == phase), None)


def _inflation(side: SideInput, group: Group | None, phase: Phase) -> Stat | None:
    """Traced window over untraced wall, less one."""
    wall = _untraced(side, group, phase)
    if wall is None or group is None:
        return None
    window = _stat(side, group, phase, _BY_NAME["window_ns"])[0]
    if wall.median is None or window is None or window.median is None:
        return None
    return _point(window.median / wall.median - 1, wall.n)


def _idle_corrected(side: SideInput, group: Group | None, phase: Phase) -> Stat | None:
    """1 - busy / untraced wall, with the wall's interval."""
    wall = _untraced(side, group, phase)
    if wall is None or group is None or wall.median is None:
        return None
    busy = group.metrics["busy_ns"].median
    if busy is None:
        return None
    low, high = (
        (None, None)
        if wall.ci_low is None or wall.ci_high is None
        else (max(0.0, 1 - busy / wall.ci_low), max(0.0, 1 - busy / wall.ci_high))
    )
    value = 1 - busy / wall.median
    if value < 0:  # the traced work takes longer than the untraced step: not to be stood behind
        return Stat(None, None, None, None, None, None, wall.n)
    return Stat(value, None, None, None, low, high, wall.n)


def _constant(name: str) -> Callable[[SideInput, Group | None, Phase], Stat | None]:
    def read(side: SideInput, _group: Group | None, _phase: Phase) -> Stat | None:
        value = getattr(side.facts, name)
        return None if value is None else _point(value, 1)

    return read


def _point(value: float | int, n: int) -> Stat:
    return Stat(value, None, None, None, value, value, n)


_DERIVED: dict[str, Callable[[SideInput, Group | None, Phase], Stat | None]] = {
    "untraced_ns": _untraced,
    "inflation": _inflation,
    "idle_corrected": _idle_corrected,
    "peak_memory_bytes": _constant("peak_memory_bytes"),
    "graph_memory_bytes": _constant("graph_memory_bytes"),
    "capture_ns": _constant("capture_ns"),
}
_BY_NAME = {metric.name: metric for metric in METRICS}


# Rows and verdicts ----------------------------------------------------------------------------


def _row(metric: Metric, stats: Sequence[tuple[Stat | None, str]], groups: Groups) -> Row:
    threshold = {
        "count": SMALLEST_COUNT,
        "fraction": SMALLEST_IDLE,
    }.get(metric.unit, SMALLEST_RELATIVE)
    base = stats[0][0]
    cells = [
        _cell(metric, base, stat, source, threshold, is_base=i == 0)
        for i, (stat, source) in enumerate(stats)
    ]
    return Row(
        metric=metric.name,
        title=metric.title,
        unit=metric.unit,
        direction=metric.direction,
        threshold=threshold,
        cells=tuple(cells),
        headline=metric.headline,
        note=_row_note(metric, groups),
    )


def _cell(
    metric: Metric,
    base: Stat | None,
    stat: Stat | None,
    source: str,
    threshold: float,
    *,
    is_base: bool,
) -> Cell:
    if stat is None or stat.median is None:
        return Cell(None, source=source, verdict="neutral" if is_base else "unknown")
    if is_base:
        return Cell(stat.median, stat.ci_low, stat.ci_high, stat.n, source=source)
    if base is None or base.median is None:
        return Cell(
            stat.median, stat.ci_low, stat.ci_high, stat.n, source=source, verdict="unknown"
        )
    change = stat.median - base.median
    relative = change / base.median if base.median else None
    margin = threshold * abs(base.median) if metric.unit not in ("count", "fraction") else threshold
    return Cell(
        stat.median,
        stat.ci_low,
        stat.ci_high,
        stat.n,
        change=change,
        relative=relative,
        verdict=_verdict(metric, base, stat, margin),
        source=source,
    )


def _verdict(metric: Metric, base: Stat, stat: Stat, margin: float) -> Verdict:
    """Judge a change by the interval of the difference of the two medians.

    The interval joins those of the medians as the method of variance estimates recovery does
    (Zou and Donner 2008, "Construction of confidence limits about effect measures"). Wholly
    beyond the margin: better or worse. Wholly within: same. Otherwise inconclusive.
    """
    assert base.median is not None
    assert stat.median is not None
    if metric.direction == 0:
        return "neutral"
    change = stat.median - base.median
    bounds = (base.ci_low, base.ci_high, stat.ci_low, stat.ci_high)
    if any(b is None for b in bounds):
        if metric.unit == "count":  # one step on a side: counts do not scatter like times
            low = high = change
        else:
            return "inconclusive"
    else:
        b_low, b_high, s_low, s_high = (float(b) for b in bounds if b is not None)
        low = change - math.hypot(stat.median - s_low, b_high - base.median)
        high = change + math.hypot(s_high - stat.median, base.median - b_low)
    if -margin <= low and high <= margin:
        return "same"
    if low > margin or high < -margin:
        return "better" if (change > 0) == (metric.direction > 0) else "worse"
    return "inconclusive"


def _row_note(metric: Metric, groups: Groups) -> str | None:
    """Remarks that must stand beside a row."""
    tracing = {g.graph_tracing for g in groups if g}
    if metric.name.startswith(("idle", "busy", "gaps_ns")) and "graph" in tracing:
        if tracing & {"node", "mixed", "none"}:
            return (
                "a whole-graph span counts as busy throughout: that side's idle is a lower bound, "
                "not to be set against node-level idle"
            )
        return "whole-graph spans count as busy throughout: idle is a lower bound"
    if metric.name == "tklqt_ns":
        return "a well-fed GPU has a large TKLQT too: read it beside idle"
    if metric.name == "idle" and "node" in tracing:
        return "node-level tracing lengthens graphs, so captured sides idle less than shown"
    return None


# Kernels on one side only ---------------------------------------------------------------------


def _kernel_changes(base: Group | None, group: Group | None, label: str) -> KernelChanges:
    if base is None or group is None:
        return KernelChanges(label, known=False, reason="one side has no such steps")
    for side in (base, group):
        if side.metrics["kernels"].median is None:
            return KernelChanges(label, known=False, reason=side.unknown_reason)
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
    by_time: Callable[[KernelDiff], float] = lambda d: -(d.baseline_ns + d.candidate_ns)  # noqa: E731
    return KernelChanges(
        label,
        known=True,
        reason=None,
        added=tuple(sorted(added, key=by_time)),
        removed=tuple(sorted(removed, key=by_time)),
        changed=tuple(sorted(changed, key=by_time)),
    )


# What differs ---------------------------------------------------------------------------------


def _differences(sides: Sequence[SideInput], pairs: Sequence[Groups]) -> list[Difference]:
    """What is not alike on all sides. Sides that do not tell are left out of the check."""

    def of_trace(name: str) -> list[object]:
        return [getattr(s.analysis.trace, name) if s.analysis else None for s in sides]

    def of_facts(name: str) -> list[object]:
        return [getattr(s.facts, name) for s in sides]

    groups = pairs[0]
    checks: list[tuple[str, list[object], bool]] = [
        ("GPU", of_trace("gpu"), True),
        ("driver", of_trace("driver"), True),
        ("model", of_facts("model"), True),
        ("ISL", of_facts("isl"), True),
        ("OSL", of_facts("osl"), True),
        ("batch", of_facts("batch"), True),
        ("dtype", of_facts("dtype"), True),
        ("layers", of_facts("layers_note"), True),
        ("tokens per step", [g.tokens if g else None for g in groups], True),
        ("phase", [g.phase if g else "none" for g in groups], True),
        ("graph tracing", [g.graph_tracing if g else None for g in groups], False),
        ("nsys", of_trace("nsys_version"), False),
        ("steps", [g.steps if g else 0 for g in groups], False),
        ("commit", of_facts("commit"), False),
        (
            "processes and devices",
            [len(s.analysis.summary) if s.analysis else None for s in sides],
            True,
        ),
    ]
    found = []
    for what, values, serious in checks:
        known = {str(v) for v in values if v is not None}
        if len(known) > 1:
            shown = tuple("unknown" if v is None else str(v) for v in values)
            found.append(Difference(what, shown, serious=serious))
    return found


def _notes(sides: Sequence[SideInput], labels: Sequence[str], pairs: Sequence[Groups]) -> list[str]:
    notes = []
    tracing = {g.graph_tracing for g in pairs[0] if g}
    if "graph" in tracing and "node" in tracing:
        notes.append(
            "node-level and whole-graph tracing are set side by side: take counts from the "
            "node-level side and times from the whole-graph or untraced side."
        )
    for index, (side, label) in enumerate(zip(sides, labels, strict=True)):
        if side.facts.failure is not None:
            where = f" at {side.facts.failure.source}" if side.facts.failure.source else ""
            notes.append(f"{label} failed{where}: {side.facts.failure.error_line}")
        group = next((g[index] for g in pairs if g[index]), None)
        if group is not None and group.unknown_reason:
            notes.append(f"{label}: some figures are unknown: {group.unknown_reason}")
        analysis: Analysis | None = side.analysis
        if analysis is not None:
            notes += [f"{label}: {note}" for note in (*analysis.trace.warnings, *analysis.notes)]
    if not any(side.facts.untraced for side in sides):
        notes.append(
            "all times are traced: tracing lengthens launch-bound steps most, so idle is "
            "overstated. Time the steps without a profiler before quoting a speed-up."
        )
    return notes
