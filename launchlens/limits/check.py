"""Limits held against figures: the one place that judges, for conditions and budgets alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from launchlens.limits.figures import (
    Figure,
    blockers_figure,
    figures_of_comparison,
    figures_of_trace,
)
from launchlens.limits.model import Limit, require_blockers, require_values
from launchlens.records.comparison import Comparison
from launchlens.records.figures import Analysis, Finding
from launchlens.records.limits import LimitResult, Status
from launchlens.records.variant import VariantFacts

UNPROVEN = "the trace gives only a bound of it, which cannot prove that the limit holds"
UNDECIDED = "the trace gives only a bound of it, which cannot prove that the limit is broken"


def check_comparison(limits: Sequence[Limit], comparison: Comparison) -> tuple[LimitResult, ...]:
    """Hold limits against every candidate of a comparison, or values of one side alone.

    Each limit, candidate, and phase (or request level) that has the metric gives a result. A figure
    that is unknown does not pass, and says why.

    Raises:
        UsageError: a metric that the comparison does not have, or a change of one side alone.
    """
    if not comparison.candidates:
        require_values(limits)
    return tuple(
        judge(i, figure) for i in limits for figure in figures_of_comparison(i, comparison)
    )


def check_analysis(
    limits: Sequence[Limit],
    analysis: Analysis,
    findings: Sequence[Finding] | None = None,
    *,
    facts: VariantFacts | None = None,
    baseline: Analysis | None = None,
) -> tuple[LimitResult, ...]:
    """Hold limits on values against one trace's medians, and what was measured beside it.

    ``findings`` None takes those of the analysis; ``baseline`` is an earlier analysis, to say what
    changed when a limit is broken.

    Raises:
        UsageError: a limit on a change, or on a metric that is not there.
    """
    require_values(limits)
    found = analysis.findings if findings is None else findings
    return tuple(
        judge(limit, figure)
        for limit in limits
        for figure in figures_of_trace(limit, analysis, found, facts, baseline)
    )


def check_findings(
    limits: Sequence[Limit], where: str, findings: Sequence[Finding], *, unproven: str | None = None
) -> tuple[LimitResult, ...]:
    """Hold limits on blockers against findings alone; ``unproven``: why there may be more.

    Raises:
        UsageError: a limit on another metric, or on a change.
    """
    require_blockers(limits)
    figures = [blockers_figure(limit, where, findings) for limit in limits]
    if unproven is not None:
        figures = [replace(figure, bound="lower", reason=unproven) for figure in figures]
    return tuple(map(judge, limits, figures))


def judge(limit: Limit, figure: Figure) -> LimitResult:
    """Hold one limit against one figure; what is unknown, or held only by a bound, is unknown."""
    measured = {"value": figure.value, "change": figure.change, "relative": figure.relative}
    bounded = measured[limit.measure]
    if bounded is None and figure.baseline == 0 and figure.value is not None:
        # A ratio to nothing: no growth if it stays 0, otherwise beyond any per cent.
        bounded = 0.0 if figure.value == 0 else float("inf")
    status: Status
    reason: str | None
    if bounded is None:
        status, reason = "unknown", figure.reason or "the trace cannot tell"
    elif limit.fails_for(bounded):
        status, reason = "failed", figure.failing or figure.reason
        if _may_be(limit, figure, less=limit.is_upper):
            status, reason = "unknown", _with_reason(UNDECIDED, figure)
    elif _may_be(limit, figure, less=not limit.is_upper):
        status, reason = "unknown", _with_reason(UNPROVEN, figure)
    else:
        status, reason = "held", figure.reason
    return LimitResult(
        limit=limit.text,
        metric=limit.metric,
        unit=limit.unit,
        where=figure.where,
        status=status,
        value=figure.value,
        value_bound=figure.bound,
        measure=limit.measure,
        measured=bounded,
        bound=limit.number,
        baseline=figure.baseline,
        baseline_bound=figure.baseline_bound,
        reason=reason,
    )


def _may_be(limit: Limit, figure: Figure, *, less: bool) -> bool:
    """Whether what is bounded may truly be less, or more, than what is known of it."""
    before = None if limit.measure == "value" else figure.baseline_bound
    if less:
        return figure.bound == "upper" or before == "lower"
    return figure.bound == "lower" or before == "upper"


def _with_reason(said: str, figure: Figure) -> str:
    return f"{said}: {figure.reason}" if figure.reason else said
