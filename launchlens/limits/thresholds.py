"""Thresholds of ``--fail-on``: ``launches>+0``, ``idle>+2pp``, ``window_ns>+5%``, ``blockers``."""

from __future__ import annotations

import difflib
import operator
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NoReturn, get_args

from launchlens.catalogue import bound_under, metrics, unit_of
from launchlens.errors import UsageError
from launchlens.limits.quantities import (
    BLOCKERS,
    CONFIDENCES,
    DEFAULT_CONFIDENCE,
    NO_CALLS,
    UNPROVEN,
    Quantity,
    count_blockers,
    is_proven,
    parse_quantity,
)
from launchlens.records.figures import Phase
from launchlens.records.gate import GateResult, Measure, Number
from launchlens.records.metric import Bound, Unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from launchlens.records.comparison import Cell, Comparison, Row, Side
    from launchlens.records.figures import Analysis, Finding
    from launchlens.records.measured import RequestFigures

Operator = Literal[">", ">=", "<", "<="]

FORMS = (
    "Write METRIC>+N, METRIC>+N%, METRIC>+Npp or METRIC>N (also >=, <, <=, and -N), with a unit "
    "such as ms where it fits, an optional phase before it (decode:window_ns>+5%), or blockers; "
    "for example launches>+0, idle>+2pp, window_ns>+5%, requests_per_s<-5%, blockers:suspected."
)

_PHASES: tuple[str, ...] = get_args(Phase)
_COMPARE = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
_THRESHOLD = re.compile(
    r"(?:(?P<phase>[a-z]+):)?(?P<metric>[a-z][a-z0-9_.]*)\s*"
    r"(?P<operator>>=|<=|>|<)\s*(?P<sign>[+-])?\s*(?P<quantity>[0-9.].*)"
)
_BLOCKERS = re.compile(rf"{BLOCKERS}(?::(?P<confidence>[a-z]+))?(?P<rest>\s*[<>].*)?")


@dataclass(frozen=True, slots=True)
class Threshold:
    """A condition under which a command fails.

    Attributes:
        text: as the user wrote it.
        metric: name of a row, or "blockers".
        operator: the condition's sign: the command fails when ``measured operator limit``.
        measure: what is bounded: the candidate's value, its change, or its relative change.
        limit: in the metric's unit (ns, bytes, a fraction, a count), or a ratio minus one for
            a relative change.
        phase: the only phase looked at; None for all.
        confidence: for blockers, the least confidence that counts.
    """

    text: str
    metric: str
    operator: Operator
    measure: Measure
    limit: Number
    phase: str | None = None
    confidence: str = DEFAULT_CONFIDENCE

    @property
    def unit(self) -> Unit:
        """Unit of the metric."""
        return unit_of(self.metric)


def parse_threshold(text: str) -> Threshold:
    """Reads one ``--fail-on`` argument.

    Args:
        text: ``METRIC OP [+-]QUANTITY``. A signed quantity bounds the change against the
            baseline, an unsigned one the candidate's own value. ``blockers`` alone means
            ``blockers>0``; ``blockers:LEVEL`` counts findings from that confidence on.

    Returns:
        The threshold.

    Raises:
        UsageError: the text is none of the accepted forms; the message names them.
    """
    stripped = text.strip()
    confidence = DEFAULT_CONFIDENCE
    rest = stripped
    if blockers := _BLOCKERS.fullmatch(stripped):
        confidence = blockers["confidence"] or confidence
        if confidence not in CONFIDENCES:
            _refuse(text, f"{confidence!r} is none of {', '.join(CONFIDENCES)}")
        rest = BLOCKERS + (blockers["rest"] or ">0")
    match = _THRESHOLD.fullmatch(rest)
    if match is None:
        _refuse(text)
    phase = match["phase"]
    if phase is not None and phase not in _PHASES:
        _refuse(text, f"{phase!r} is none of the phases {', '.join(_PHASES)}")
    try:
        quantity = parse_quantity(match["quantity"])
    except UsageError as error:
        _refuse(text, error.message.rstrip("."))
    measure, limit = _measure(text, match["metric"], match["sign"], quantity)
    sign: Operator = match["operator"]  # type: ignore[assignment] # the pattern allows no other
    return Threshold(stripped, match["metric"], sign, measure, limit, phase, confidence)


def check_thresholds(
    thresholds: Sequence[Threshold], comparison: Comparison
) -> tuple[GateResult, ...]:
    """Holds thresholds against every candidate of a comparison.

    Args:
        thresholds: as parsed.
        comparison: baseline and candidates, or one side alone, which is then held against
            thresholds on values. Changes are the record's own.

    Returns:
        A result for each threshold, candidate, and phase (or request level) that has the
        metric. A figure that is unknown does not pass, and says why.

    Raises:
        UsageError: a metric that the comparison does not have, or a change of one side alone.
    """
    if not comparison.candidates:
        require_values(thresholds)
    return tuple(result for item in thresholds for result in _check(item, comparison))


def check_values(
    thresholds: Sequence[Threshold], analysis: Analysis, findings: Sequence[Finding] | None = None
) -> tuple[GateResult, ...]:
    """Holds thresholds on values (``launches>1000``) against one trace's medians.

    Args:
        thresholds: as parsed; only those on values.
        analysis: the trace's figures.
        findings: its blockers; None takes those of the analysis.

    Raises:
        UsageError: a threshold on a change, or a metric that the analysis does not have.
    """
    require_values(thresholds)
    results: list[GateResult] = []
    for item in thresholds:
        if item.metric == BLOCKERS:
            found = analysis.findings if findings is None else findings
            if not found and not analysis.trace.api_calls:
                results.append(_unknown(item, analysis.trace.label, NO_CALLS))
                continue
            results.append(_check_blockers(item, analysis.trace.label, found, None))
            continue
        groups = [g for g in analysis.summary if item.phase in (None, g.phase)]
        known = {name for g in analysis.summary for name in g.metrics}
        if not groups:
            results.append(_unknown(item, analysis.trace.label, _no_steps(item)))
        elif not any(item.metric in g.metrics for g in groups):
            _refuse_metric(item, sorted(known))
        for group in groups:
            if (stat := group.metrics.get(item.metric)) is None:
                continue
            where = f"{group.phase}, process {group.pid}, device {group.device}"
            reason = group.unknown_reason
            median = stat.median
            result = _judge(
                item, where, measured=median, value=median, baseline=None, reason=reason
            )
            results.append(_proven(item, result, bound_under(item.metric, group.graph_tracing)))
    return tuple(results)


def require_values(thresholds: Sequence[Threshold]) -> None:
    """Refuses thresholds on changes, where there is nothing to change from.

    Raises:
        UsageError: a threshold on a change.
    """
    for item in thresholds:
        if item.measure != "value":
            raise UsageError(
                f"The threshold {item.text!r} needs a baseline.",
                hint="Use it with two traces, or write a limit without sign, as launches>1000.",
            )


def _measure(
    text: str, metric: str, sign: str | None, quantity: Quantity
) -> tuple[Measure, Number]:
    """What a quantity bounds for this metric, and the bound in the metric's unit."""
    unit = unit_of(metric)
    number = -quantity.number if sign == "-" else quantity.number
    if quantity.kind == "points":
        if unit != "fraction" or sign is None:
            _refuse(text, "percentage points (pp) are changes of a fraction, as idle>+2pp")
        return "change", number
    if quantity.kind == "percent":
        if unit == "fraction" and sign is not None:
            _refuse(text, f"changes of {metric} are percentage points: write {sign}…pp")
        if unit != "fraction" and sign is None:
            _refuse(text, f"a per cent value of {metric} needs a sign, as {metric}>+5%")
        return ("value", number) if sign is None else ("relative", number)
    if quantity.kind in ("ns", "bytes"):
        if unit != quantity.kind:
            _refuse(text, f"{metric} is not measured in that unit")
        number = round(number)
    return ("value" if sign is None else "change"), number


def _check(item: Threshold, comparison: Comparison) -> Iterator[GateResult]:
    held = comparison.candidates or comparison.sides
    if item.metric == BLOCKERS:
        for side in held:
            yield _check_side_blockers(item, side, comparison.baseline)
        return
    phases = [p for p in comparison.phases if item.phase in (None, p.phase)]
    rows = [(p.phase, row) for p in phases for row in p.rows if row.metric == item.metric]
    for phase, row in rows:
        for side, cell in zip(held, row.cells[-len(held) :], strict=True):
            yield _check_cell(item, f"{side.label}, {phase}", row, cell)
    if rows:
        return
    if item.metric in [m.name for m in metrics() if m.owner == "request"] and item.phase is None:
        yield from _check_requests(item, comparison)
    elif not phases:
        for side in held:
            yield _unknown(item, side.label, _no_steps(item))
    else:
        _refuse_metric(item, sorted({row.metric for p in phases for row in p.rows}))


def _check_cell(item: Threshold, where: str, row: Row, cell: Cell) -> GateResult:
    base = row.cells[0]
    alone = len(row.cells) == 1  # there is no baseline then
    note = cell.note or base.note or row.note
    reason = note
    if cell.value is not None and base.value is None and item.measure != "value":
        reason = f"the baseline's {item.metric} is unknown" + (
            f": {base.note}" if base.note else ""
        )
    elif cell.verdict == "inconclusive":
        reason = note or "the confidence interval crosses the smallest difference that matters"
    measured = {"value": cell.value, "change": cell.change, "relative": cell.relative}[item.measure]
    if measured is None and base.value == 0 and cell.value is not None:
        # A ratio to nothing: no growth if it stays 0, otherwise beyond any per cent.
        measured = 0.0 if cell.value == 0 else float("inf")
    result = _judge(
        item,
        where,
        measured=measured,
        value=cell.value,
        baseline=None if alone else base.value,
        reason=reason,
    )
    before = None if item.measure == "value" else base.bound
    return _proven(item, result, cell.bound, before)


def _proven(
    item: Threshold, result: GateResult, value: Bound | None, before: Bound | None = None
) -> GateResult:
    """A limit that holds only on a bound of the figure is not known to hold."""
    fails_above = item.operator in (">", ">=")
    if result.passed and not is_proven(fails_above=fails_above, value=value, baseline=before):
        return replace(result, status="unknown", reason=UNPROVEN)
    return result


def _check_requests(item: Threshold, comparison: Comparison) -> Iterator[GateResult]:
    base = {_load(r): _request_value(r, item.metric) for r in comparison.baseline.facts.requests}
    for side in comparison.candidates or comparison.sides:
        found = {_load(r): _request_value(r, item.metric) for r in side.facts.requests}
        if not found:
            yield _unknown(item, side.label, "no request-level figures were measured for it")
        for load, value in found.items():
            where = f"{side.label}, ISL {load[0]}, OSL {load[1]}, concurrency {load[2]}"
            before = base.get(load)
            reason = None if before is not None else "the baseline was not measured at this load"
            change = None if value is None or before is None else value - before
            relative = None if change is None or not before else change / before
            measured = {"value": value, "change": change, "relative": relative}[item.measure]
            yield _judge(
                item, where, measured=measured, value=value, baseline=before, reason=reason
            )


def check_blockers(
    thresholds: Sequence[Threshold], where: str, findings: Sequence[Finding]
) -> tuple[GateResult, ...]:
    """Holds thresholds on blockers against findings alone.

    Raises:
        UsageError: a threshold on another metric, or on a change.
    """
    for item in thresholds:
        if item.metric != BLOCKERS or item.measure != "value":
            raise UsageError(
                f"The threshold {item.text!r} does not fit: there are only blockers here.",
                hint="Use blockers, blockers>N or blockers:suspected.",
            )
    return tuple(_check_blockers(item, where, findings, None) for item in thresholds)


def _check_side_blockers(item: Threshold, side: Side, baseline: Side) -> GateResult:
    if side.trace is None and not side.findings:
        return _unknown(item, side.label, "it has no trace to look for blockers in")
    if side.trace is not None and not side.trace.api_calls and not side.findings:
        return _unknown(item, side.label, NO_CALLS)
    if item.measure == "value":
        return _check_blockers(item, side.label, side.findings, None)
    if baseline.trace is None and not baseline.findings:
        return _unknown(item, side.label, "the baseline has no trace to look for blockers in")
    return _check_blockers(item, side.label, side.findings, baseline.findings)


def _check_blockers(
    item: Threshold, where: str, findings: Sequence[Finding], baseline: Sequence[Finding] | None
) -> GateResult:
    value, rules = count_blockers(findings, item.confidence)
    before = None if baseline is None else count_blockers(baseline, item.confidence)[0]
    measured: Number = value if before is None else value - before
    if item.measure == "relative":
        measured = (value / before - 1) if before else (float("inf") if value else 0.0)
    return _judge(item, where, measured=measured, value=value, baseline=before, reason=rules)


def _judge(
    item: Threshold,
    where: str,
    *,
    measured: Number | None,
    value: Number | None,
    baseline: Number | None,
    reason: str | None,
) -> GateResult:
    if measured is None:
        why = reason or "the trace cannot tell"
        return _unknown(item, where, why, value=value, baseline=baseline)
    failed = _COMPARE[item.operator](measured, item.limit)
    return GateResult(
        gate=item.text,
        metric=item.metric,
        unit=item.unit,
        where=where,
        status="failed" if failed else "held",
        value=value,
        measure=item.measure,
        measured=measured,
        limit=item.limit,
        baseline=baseline,
        reason=reason,
    )


def _unknown(
    item: Threshold,
    where: str,
    reason: str,
    *,
    value: Number | None = None,
    baseline: Number | None = None,
) -> GateResult:
    return GateResult(
        gate=item.text,
        metric=item.metric,
        unit=item.unit,
        where=where,
        status="unknown",
        value=value,
        measure=item.measure,
        measured=None,
        limit=item.limit,
        baseline=baseline,
        reason=reason,
    )


def _no_steps(item: Threshold) -> str:
    return f"there are no {item.phase} steps" if item.phase else "there are no steps"


def _load(figures: RequestFigures) -> tuple[int, int, int]:
    return figures.isl, figures.osl, figures.concurrency


def _request_value(figures: RequestFigures, metric: str) -> Number | None:
    value: Number | None = getattr(figures, metric)
    return value


def _refuse(text: str, why: str | None = None) -> NoReturn:
    said = f": {why}" if why else ""
    raise UsageError(f"{text!r} is no threshold{said}.", hint=FORMS)


def _refuse_metric(item: Threshold, known: list[str]) -> NoReturn:
    near = difflib.get_close_matches(item.metric, known, n=1)
    said = f" Did you mean {near[0]}?" if near else ""
    raise UsageError(
        f"The threshold {item.text!r} names no metric that is there.{said}",
        hint=f"There are: {', '.join(known)}, {BLOCKERS}.",
    )
