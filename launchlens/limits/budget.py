"""Budgets: limits on a trace's figures for each model and phase, kept in a TOML file.

[models."qwen3-0.6b-cudagraph*"]          # a pattern: the model, or the trace's name
blockers = 0                              # in every phase
[models."qwen3-0.6b-cudagraph*".prefill]  # prefill, decode, mixed or unknown
launches = 1                              # a number is the most that is allowed
idle = "30%"                              # quantities with a unit are strings
window_ns = "15ms"
graph_launches = { min = 1, max = 1 }     # a table bounds either side
"""

from __future__ import annotations

import difflib
import fnmatch
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn, get_args

from launchlens.catalogue import bound_under, unit_of
from launchlens.errors import UsageError
from launchlens.limits.quantities import (
    BLOCKERS,
    CONFIDENCES,
    DEFAULT_CONFIDENCE,
    NO_CALLS,
    UNPROVEN,
    count_blockers,
    explain_change,
    explain_value,
    is_proven,
    parse_quantity,
)
from launchlens.records.figures import Phase
from launchlens.records.gate import GateResult, Number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from launchlens.records.figures import Analysis, Finding, Group
    from launchlens.records.measured import VariantFacts

Bound = Literal["max", "min"]

_PHASES: tuple[str, ...] = get_args(Phase)
_FACTS = ("peak_memory_bytes", "graph_memory_bytes", "capture_ns")
_UNTRACED = "untraced_ns"
_NOT_MEASURED = "it is measured only in runs, not in a trace alone"


@dataclass(frozen=True, slots=True)
class Limit:
    """One bound. ``phase`` None: every phase. ``number`` is in the metric's unit."""

    pattern: str
    phase: str | None
    metric: str
    bound: Bound
    number: Number
    written: str
    confidence: str = DEFAULT_CONFIDENCE

    @property
    def text(self) -> str:
        """The limit in a line, with the number as it was written."""
        sign = "<=" if self.bound == "max" else ">="
        what = " ".join(part for part in (self.phase, self.metric) if part)
        return f"{self.pattern}: {what} {sign} {self.written}"


@dataclass(frozen=True, slots=True)
class Budget:
    """All limits of a file, in its order."""

    file: str
    limits: tuple[Limit, ...]

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns that the file has limits for, each once."""
        return tuple(dict.fromkeys(limit.pattern for limit in self.limits))


def read_budget(path: Path) -> Budget:
    """Reads a budget file.

    Args:
        path: a TOML file as shown at the top of this module.

    Returns:
        The budget; it has at least one limit.

    Raises:
        UsageError: the file cannot be read, is no TOML, or has something else in it. The
            message names the place.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        said = (error.strerror or str(error)).lower()
        raise UsageError(f"The budget {path} cannot be read: {said}.") from error
    except ValueError as error:  # no UTF-8, or no TOML
        raise UsageError(f"The budget {path} is no valid TOML: {error}.") from error
    models = document.pop("models", None)
    if document:
        hint = 'Limits stand under a model, as [models."NAME"] or, for all, [models."*"].'
        _refuse(path, f"{next(iter(document))} is unknown", hint)
    if not isinstance(models, dict) or not models:
        _refuse(path, "it has no limits", 'Write them under [models."NAME"].')
    limits: list[Limit] = []
    for pattern, table in models.items():
        limits += _read_table(path, pattern, None, table)
    if not limits:
        _refuse(path, "it has no limits", "Write one, as launches = 500.")
    return Budget(str(path), tuple(limits))


def check_budget(
    budget: Budget,
    analysis: Analysis,
    findings: Sequence[Finding] | None = None,
    *,
    model: str | None = None,
    facts: VariantFacts | None = None,
    baseline: Analysis | None = None,
) -> list[GateResult]:
    """Holds a trace against the limits that are for it.

    Args:
        budget: as read.
        analysis: the trace's figures; medians over steps are held against the limits.
        findings: its blockers; None takes those of the analysis.
        model: the model's name, matched against patterns beside the trace's label.
        facts: what was measured without a profiler, for limits on such figures.
        baseline: an earlier analysis, to say what changed when a limit is broken.

    Returns:
        A result for each limit and each (phase, process, device). An unknown figure does not
        pass, and says why.

    Raises:
        UsageError: no limit is for this trace, or one names a metric that there is not.
    """
    names = [n.casefold() for n in (model, facts and facts.model, analysis.trace.label) if n]
    limits = [
        limit
        for limit in budget.limits
        if any(fnmatch.fnmatchcase(name, limit.pattern.casefold()) for name in names)
    ]
    if not limits:
        raise UsageError(
            f"{budget.file} has no limits for {' or '.join(names)}.",
            hint=f"It has limits for: {', '.join(budget.patterns)}. Patterns may hold * and ?.",
        )
    found = analysis.findings if findings is None else findings
    return [r for limit in limits for r in _check(limit, analysis, found, facts, baseline)]


def _read_table(path: Path, pattern: str, phase: str | None, table: Any) -> Iterator[Limit]:
    where = f"models.{pattern}" + (f".{phase}" if phase else "")
    if not isinstance(table, dict):
        _refuse(path, f"{where} is no table", f'Write [models."{pattern}"].')
    for name, value in table.items():
        if name in _PHASES and phase is None:
            yield from _read_table(path, pattern, name, value)
        else:
            yield from _read_limits(path, where, (pattern, phase, name), value)


def _read_limits(
    path: Path, where: str, key: tuple[str, str | None, str], value: Any
) -> Iterator[Limit]:
    pattern, phase, metric = key
    place = f"{where}.{metric}"
    bounds: Mapping[str, Any] = value if isinstance(value, dict) else {"max": value}
    confidence = DEFAULT_CONFIDENCE
    if metric == BLOCKERS:
        confidence = bounds.get("confidence", confidence)
        bounds = {k: v for k, v in bounds.items() if k != "confidence"}
        if confidence not in CONFIDENCES:
            _refuse(path, f"{place}.confidence is {confidence!r}", f"Use {', '.join(CONFIDENCES)}.")
        if phase is not None:
            hint = "Blockers are counted for the whole trace: move the limit up, to the model."
            _refuse(path, f"{place} is for one phase", hint)
    if phase is None and isinstance(value, dict) and set(bounds) - {"max", "min"}:
        near = difflib.get_close_matches(metric, _PHASES, n=1)
        said = f"Did you mean {near[0]}? " if near else ""
        hint = f"{said}Phases are {', '.join(_PHASES)}; a limit is {{ min = …, max = … }}."
        _refuse(path, f"{place} is neither a phase nor a limit", hint)
    if not bounds or set(bounds) - {"max", "min"}:
        _refuse(path, f"{place} is {value!r}", "Write a number, or { min = …, max = … }.")
    for bound in ("max", "min"):
        if bound in bounds:
            number = _read_number(path, place, metric, bounds[bound])
            written = str(bounds[bound])
            yield Limit(pattern, phase, metric, bound, number, written, confidence)


def _read_number(path: Path, place: str, metric: str, value: Any) -> Number:
    unit = unit_of(metric)
    if isinstance(value, str):
        try:
            quantity = parse_quantity(value)
        except UsageError as error:
            _refuse(path, f"{place}: {error.message.rstrip('.')}", error.hint)
        fits = {"fraction": "percent", "ns": "ns", "bytes": "bytes"}.get(unit)
        if quantity.kind not in ("plain", fits):
            _refuse(path, f"{place} is {value!r}", f"{metric} is not measured in that unit.")
        number = quantity.number
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = value
    else:
        _refuse(path, f"{place} is {value!r}", 'Write a number, or a quantity as "15ms" or "30%".')
    if unit == "fraction" and not 0 <= number <= 1:
        _refuse(path, f"{place} is {value!r}", 'Write a fraction as 0.3 or "30%".')
    return number


def _check(
    limit: Limit,
    analysis: Analysis,
    findings: Sequence[Finding],
    facts: VariantFacts | None,
    baseline: Analysis | None,
) -> Iterator[GateResult]:
    label = analysis.trace.label
    if limit.metric == BLOCKERS:
        if not findings and not analysis.trace.api_calls:
            yield _judge(limit, label, None, None, NO_CALLS)
            return
        value, rules = count_blockers(findings, limit.confidence)
        before = count_blockers(baseline.findings, limit.confidence)[0] if baseline else None
        yield _judge(limit, label, value, before, rules)
        return
    if limit.metric in _FACTS:
        value_or_none = getattr(facts, limit.metric) if facts else None
        yield _judge(limit, label, value_or_none, None, _NOT_MEASURED)
        return
    if limit.metric == _UNTRACED:
        yield from _check_untraced(limit, label, facts)
        return
    groups = [g for g in analysis.summary if limit.phase in (None, g.phase)]
    if not groups:
        there = f"there are no {limit.phase} steps" if limit.phase else "there are no steps"
        yield _judge(limit, label, None, None, there)
    elif not any(limit.metric in g.metrics for g in groups):
        _refuse_metric(limit, groups)
    for group in groups:
        if (stat := group.metrics.get(limit.metric)) is not None:
            where = f"{label}, {group.phase}, process {group.pid}, device {group.device}"
            side = bound_under(limit.metric, group.graph_tracing)
            earlier = _same_group(baseline, analysis, group)
            result = _judge(
                limit,
                where,
                stat.median,
                earlier.metrics[limit.metric].median if earlier else None,
                _explain(limit, group, earlier),
            )
            if result.passed and not is_proven(fails_above=limit.bound == "max", value=side):
                result = replace(result, status="unknown", reason=UNPROVEN)
            yield result


def _check_untraced(limit: Limit, label: str, facts: VariantFacts | None) -> Iterator[GateResult]:
    walls = [w for w in (facts.untraced if facts else ()) if limit.phase in (None, w.phase)]
    if not walls:
        yield _judge(limit, label, None, None, _NOT_MEASURED)
    for wall in walls:
        yield _judge(limit, f"{label}, {wall.phase}, untraced", wall.wall_ns.median, None, None)


def _explain(limit: Limit, group: Group, earlier: Group | None) -> str | None:
    if group.metrics[limit.metric].median is None:
        return group.unknown_reason
    if earlier is not None:
        return explain_change(limit.metric, earlier, group)
    return explain_value(limit.metric, group)


def _same_group(baseline: Analysis | None, analysis: Analysis, group: Group) -> Group | None:
    """The baseline's group with the same place in its phase: process ids differ between runs."""
    if baseline is None:
        return None
    place = [g for g in analysis.summary if g.phase == group.phase].index(group)
    groups = [g for g in baseline.summary if g.phase == group.phase]
    return groups[place] if place < len(groups) else None


def _judge(
    limit: Limit, where: str, value: Number | None, before: Number | None, reason: str | None
) -> GateResult:
    held = value is not None and (
        value <= limit.number if limit.bound == "max" else value >= limit.number
    )
    return GateResult(
        gate=limit.text,
        metric=limit.metric,
        unit=unit_of(limit.metric),
        where=where,
        status="unknown" if value is None else "held" if held else "failed",
        value=value,
        measure="value",
        measured=value,
        limit=limit.number,
        baseline=before,
        reason=None if held else (reason or ("the trace cannot tell" if value is None else None)),
    )


def _refuse(path: Path, said: str, hint: str | None) -> NoReturn:
    raise UsageError(f"The budget {path} cannot be used: {said}.", hint=hint)


def _refuse_metric(limit: Limit, groups: Sequence[Group]) -> NoReturn:
    known = sorted({name for g in groups for name in g.metrics} | {BLOCKERS, _UNTRACED, *_FACTS})
    near = difflib.get_close_matches(limit.metric, known, n=1)
    said = f" Did you mean {near[0]}?" if near else ""
    raise UsageError(
        f"The budget limit {limit.text!r} names no metric that is there.{said}",
        hint=f"There are: {', '.join(known)}.",
    )
