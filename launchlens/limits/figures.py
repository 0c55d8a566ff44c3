"""Figures that a limit is held against: of a comparison, of a trace, of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from launchlens.catalogue import by_name
from launchlens.limits.model import BLOCKERS, CONFIDENCES, Limit, refuse_metric
from launchlens.limits.parts import explain_change, explain_value
from launchlens.records.comparison import Cell, Comparison, Row, Side
from launchlens.records.figures import Analysis, Finding, Group, Stat
from launchlens.records.limits import Number
from launchlens.records.metric import Bound
from launchlens.records.variant import Untraced, VariantFacts

NO_CALLS = "the trace has no CUDA API calls, in which blockers show"
"""Why a trace without findings proves nothing, if CUDA was not traced."""


NOT_MEASURED = "it is measured only in runs, not in a trace alone"


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure that a limit is held against, beside what it is a change from.

    ``value`` and ``baseline`` None: unknown, for ``reason``. ``change`` and ``relative`` are the
    comparison's own where there is one. ``failing``: what stands behind it, for one who sees the
    limit broken.
    """

    where: str
    value: Number | None
    baseline: Number | None = None
    change: Number | None = None
    relative: float | None = None
    bound: Bound | None = None
    baseline_bound: Bound | None = None
    reason: str | None = None
    failing: str | None = None


def figures_of_comparison(limit: Limit, comparison: Comparison) -> Iterator[Figure]:
    """A figure for each candidate and phase, or load of requests, that has the metric."""
    held = comparison.candidates or comparison.sides
    if limit.metric == BLOCKERS:
        yield from (_side_blockers(limit, side, comparison.baseline) for side in held)
        return
    phases = [p for p in comparison.phases if limit.phase in (None, p.phase)]
    rows = [(p.phase, row) for p in phases for row in p.rows if row.metric == limit.metric]
    for phase, row in rows:
        for side, cell in zip(held, row.cells[-len(held) :], strict=True):
            yield _of_cell(limit, f"{side.label}, {phase}", row, cell)
    if rows:
        return
    metric = by_name().get(limit.metric)
    if metric is not None and metric.owner == "request" and limit.phase is None:
        for side in held:
            yield from _of_requests(limit.metric, side.label, side.facts, comparison.baseline.facts)
    elif not phases:
        yield from (Figure(side.label, None, reason=_no_steps(limit)) for side in held)
    else:
        refuse_metric(limit)


def _of_cell(limit: Limit, where: str, row: Row, cell: Cell) -> Figure:
    base = row.cells[0]
    reason = cell.note or base.note or row.note
    if cell.value is not None and base.value is None and limit.measure != "value":
        because = f": {base.note}" if base.note else ""
        reason = f"the baseline's {limit.metric} is unknown{because}"
    elif cell.verdict == "inconclusive" and not (cell.bound or base.bound):
        reason = reason or "the confidence interval crosses the smallest difference that matters"
    before = None if len(row.cells) == 1 else base.value
    # Of bounds too, whose change a report withholds: a limit is told apart by its own direction.
    change, relative = cell.change, cell.relative
    if change is None and cell.value is not None and before is not None:
        change = cell.value - before
        relative = change / before if before else None
    return Figure(where, cell.value, before, change, relative, cell.bound, base.bound, reason)


def _of_requests(
    metric: str, label: str, facts: VariantFacts, baseline: VariantFacts
) -> Iterator[Figure]:
    load = attrgetter("isl", "osl", "concurrency")
    before = {load(r): getattr(r, metric) for r in baseline.requests}
    if not facts.requests:
        yield Figure(label, None, reason="no request-level figures were measured for it")
    for request in facts.requests:
        isl, osl, concurrency = load(request)
        where = f"{label}, ISL {isl}, OSL {osl}, concurrency {concurrency}"
        value, base = getattr(request, metric), before.get(load(request))
        change = None if value is None or base is None else value - base
        relative = None if change is None or not base else change / base
        reason = None if base is not None else "the baseline was not measured at this load"
        yield Figure(where, value, base, change, relative, reason=reason)


def figures_of_trace(
    limit: Limit,
    analysis: Analysis,
    findings: Sequence[Finding],
    facts: VariantFacts | None,
    baseline: Analysis | None,
) -> Iterable[Figure]:
    """A figure for each group of steps that has the metric, or of what was measured beside it."""
    label = analysis.trace.label
    if limit.metric == BLOCKERS:
        if not findings and not analysis.trace.api_calls:
            return [Figure(label, None, reason=NO_CALLS)]
        before = baseline.findings if baseline else None
        return [blockers_figure(limit, label, findings, before, unseen=analysis.blockers_unseen)]
    metric = by_name().get(limit.metric)
    computed = any(limit.metric in group.metrics for group in analysis.summary)
    if limit.pattern is not None and metric and metric.owner != "step" and not computed:
        return _of_facts(limit, label, facts)
    groups = [g for g in analysis.summary if limit.phase in (None, g.phase)]
    if not groups:
        return [Figure(label, None, reason=_no_steps(limit))]
    having = [g for g in groups if limit.metric in g.metrics]
    if not having:
        refuse_metric(limit)
    return [_of_group(limit, label, group, analysis, baseline) for group in having]


def _of_group(
    limit: Limit, label: str, group: Group, analysis: Analysis, baseline: Analysis | None
) -> Figure:
    place = f"{group.phase}, process {group.pid}, device {group.device}"
    stat = group.metrics[limit.metric]
    if limit.pattern is None:
        known = stat.median is not None and stat.bound and not _tells_of(limit, stat)
        reason = None if known else group.unknown_reason
        return Figure(place, stat.median, bound=stat.bound, reason=reason)
    earlier = _same_group(baseline, analysis, group)
    reason = group.unknown_reason if stat.median is None or _tells_of(limit, stat) else None
    before, failing = None, explain_value(limit.metric, group)
    if earlier:
        before = earlier.metrics[limit.metric].median
        failing = explain_change(limit.metric, earlier, group)
    where = f"{label}, {place}"
    return Figure(where, stat.median, before, bound=stat.bound, reason=reason, failing=failing)


def _tells_of(limit: Limit, stat: Stat) -> bool:
    """Whether a group's reason for unknown figures is that of this bound; not of counts."""
    return stat.bound is not None and limit.unit != "count"


def _of_facts(limit: Limit, label: str, facts: VariantFacts | None) -> Iterator[Figure]:
    """Figures that only runs have: untraced times by phase, memory, requests."""
    metric = by_name()[limit.metric]
    if metric.of_phase is not None:
        walls: Sequence[Untraced] = getattr(facts, metric.of_phase, ())
        walls = [w for w in walls if limit.phase in (None, w.phase)]
        for wall in walls:
            yield Figure(f"{label}, {wall.phase}, untraced", wall.wall_ns.median)
        found: Sequence[object] = walls
    elif metric.owner == "request":
        found = facts.requests if facts else ()
        if facts is not None and found:
            yield from _of_requests(limit.metric, label, facts, facts)
    else:
        value = getattr(facts, limit.metric, None)
        yield Figure(label, value, reason=NOT_MEASURED if value is None else None)
        return
    if not found:
        yield Figure(label, None, reason=NOT_MEASURED)


def _same_group(baseline: Analysis | None, analysis: Analysis, group: Group) -> Group | None:
    """The baseline's group with the same place in its phase: process ids differ between runs."""
    if baseline is None:
        return None
    place = [g for g in analysis.summary if g.phase == group.phase].index(group)
    groups = [g for g in baseline.summary if g.phase == group.phase]
    return groups[place] if place < len(groups) else None


def count_blockers(findings: Sequence[Finding], confidence: str) -> tuple[Number, str | None]:
    """Blocking calls in each step, by findings of at least this confidence; never cleared ones.

    With them the rules that they belong to, in words (None without any).
    """
    counted = CONFIDENCES[CONFIDENCES.index(confidence) :]
    by_phase: dict[str | None, dict[str, float]] = {}
    for finding in findings:
        if finding.confidence in counted:
            # A finding that is there in only some of the steps still blocks: never rounded to 0.
            rules = by_phase.setdefault(finding.phase, {})
            rules[finding.rule] = rules.get(finding.rule, 0) + finding.count_per_step
    # A step is of one phase: the one with most counts.
    rules = max(by_phase.values(), key=lambda r: sum(r.values()), default={})
    total = float(sum(rules.values()))
    count = int(total) if total.is_integer() else total
    return count, ", ".join(f"{rule} × {count:g}" for rule, count in rules.items()) or None


def _side_blockers(limit: Limit, side: Side, baseline: Side) -> Figure:
    if side.trace is None and not side.findings:
        return Figure(side.label, None, reason="it has no trace to look for blockers in")
    if side.trace is not None and not side.trace.api_calls and not side.findings:
        return Figure(side.label, None, reason=NO_CALLS)
    unseen = side.blockers_unseen
    if limit.measure == "value":
        return blockers_figure(limit, side.label, side.findings, unseen=unseen)
    if baseline.trace is None and not baseline.findings:
        reason = "the baseline has no trace to look for blockers in"
        return Figure(side.label, None, reason=reason)
    figure = blockers_figure(limit, side.label, side.findings, baseline.findings, unseen=unseen)
    return replace(figure, baseline_bound="lower" if baseline.blockers_unseen else None)


def blockers_figure(
    limit: Limit,
    where: str,
    findings: Sequence[Finding],
    baseline: Sequence[Finding] | None = None,
    *,
    unseen: Sequence[str] = (),
) -> Figure:
    """How many calls block in each step, as a figure; at least so many where some are unseen."""
    value, rules = count_blockers(findings, limit.confidence)
    before = None if baseline is None else count_blockers(baseline, limit.confidence)[0]
    change = None if before is None else value - before
    relative = value / before - 1 if before else None
    reason = unseen[0] if unseen else None if limit.pattern is not None else rules
    bound: Bound | None = "lower" if unseen else None
    return Figure(where, value, before, change, relative, bound, reason=reason, failing=rules)


def _no_steps(limit: Limit) -> str:
    return f"there are no {limit.phase} steps" if limit.phase else "there are no steps"
