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

import fnmatch
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, ValidationError

from launchlens.catalogue import unit_of
from launchlens.errors import UsageError
from launchlens.limits.check import check_analysis
from launchlens.limits.model import (
    BLOCKERS,
    CONFIDENCES,
    DEFAULT_CONFIDENCE,
    PHASES,
    Limit,
    Operator,
    parse_quantity,
    unknown_metric,
)
from launchlens.project_file import LIMITS_TABLE, SETTINGS_TABLE, TABLES
from launchlens.records.figures import Analysis, Finding
from launchlens.records.limits import LimitResult, Number
from launchlens.records.variant import VariantFacts
from launchlens.suggestions import did_you_mean, near_files, near_names
from launchlens.text_files import read_text_file

MOST = 1e18


@dataclass(frozen=True, slots=True)
class Budget:
    """All limits of a file, in its order."""

    file: str
    limits: tuple[Limit, ...]

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns that the file has limits for, each once."""
        return tuple(dict.fromkeys(str(limit.pattern) for limit in self.limits))


def read_budget(path: Path) -> Budget:
    """Read a TOML file as shown at the top of this module; it has at least one limit.

    Raises:
        UsageError: the file cannot be read, is no TOML, or has something else in it. The
            message names the place.
    """
    try:
        document = tomllib.loads(read_text_file(path))
    except OSError as error:
        said = (error.strerror or str(error)).lower()
        near = did_you_mean(near_files(path)) if isinstance(error, FileNotFoundError) else None
        raise UsageError(f"The budget {path} cannot be read: {said}.", hint=near) from error
    except (ValueError, RecursionError) as error:  # no UTF-8, or no TOML
        raise UsageError(f"The budget {path} is no valid TOML: {error}.") from error
    document.pop(SETTINGS_TABLE, None)  # the command line's
    models = document.pop(LIMITS_TABLE, None)
    if document:
        unknown = next(iter(document))
        hint = 'Limits stand under a model, as [models."NAME"] or, for all, [models."*"].'
        near = did_you_mean(near_names(unknown, TABLES))
        _refuse(path, f"{unknown} is unknown", near or hint)
    if not isinstance(models, dict) or not models:
        _refuse(path, "it has no limits", 'Write them under [models."NAME"].')
    limits = [
        limit for pattern, table in models.items() for limit in _table(path, pattern, None, table)
    ]
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
) -> tuple[LimitResult, ...]:
    """Hold a trace against the limits that are for it, as `check_analysis` does.

    Patterns are matched against the trace's label and the name of its ``model``, given or as its
    ``facts`` have it.

    Raises:
        UsageError: no limit is for this trace, or one names a metric that there is not.
    """
    names = [n.casefold() for n in (model, facts and facts.model, analysis.trace.label) if n]
    limits = [
        limit
        for limit in budget.limits
        if any(fnmatch.fnmatchcase(name, str(limit.pattern).casefold()) for name in names)
    ]
    if not limits:
        raise UsageError(
            f"{budget.file} has no limits for {' or '.join(names)}.",
            hint=f"It has limits for: {', '.join(budget.patterns)}. Patterns may hold * and ?.",
        )
    return check_analysis(limits, analysis, findings, facts=facts, baseline=baseline)


def _table(path: Path, pattern: str, phase: str | None, table: Any) -> Iterator[Limit]:
    where = f"models.{pattern}" + (f".{phase}" if phase else "")
    if not isinstance(table, dict):
        _refuse(path, f"{where} is no table", f'Write [models."{pattern}"].')
    for name, value in table.items():
        if name in PHASES and phase is None:
            yield from _table(path, pattern, name, value)
        else:
            yield from _limits(path, f"{where}.{name}", pattern, phase, name, value)


class _Bounds(BaseModel):
    """A limit as written: a table, or a number or quantity alone, which is the most allowed."""

    model_config = ConfigDict(extra="forbid", strict=True)

    max: int | float | str | None = None
    min: int | float | str | None = None
    confidence: Literal["suspected", "likely", "confirmed"] = DEFAULT_CONFIDENCE


def _limits(
    path: Path, place: str, pattern: str, phase: str | None, metric: str, value: Any
) -> Iterator[Limit]:
    if metric == BLOCKERS and phase is not None:
        hint = "Blockers are counted for the whole trace: move the limit up, to the model."
        _refuse(path, f"{place} is for one phase", hint)
    written = value if isinstance(value, dict) else {"max": value}
    try:
        bounds = _Bounds.model_validate(written)
    except ValidationError as error:
        _refuse_bounds(path, place, phase, metric, value, error)
    if (bounds.max is None and bounds.min is None) or (
        "confidence" in written and metric != BLOCKERS
    ):
        _refuse(path, f"{place} is {value!r}", "Write a number, or { min = …, max = … }.")
    if hint_of := unknown_metric(metric):
        _refuse(path, f"{place} is a limit on {metric}, and there is no such metric", hint_of)
    for given, fails, shown in ((bounds.max, ">", "<="), (bounds.min, "<", ">=")):
        if given is not None:
            number = _number(path, place, metric, given)
            what = " ".join(part for part in (phase, metric) if part)
            text = f"{pattern}: {what} {shown} {given}"
            sign: Operator = fails  # type: ignore[assignment]
            yield Limit(text, metric, sign, "value", number, phase, bounds.confidence, pattern)


def _refuse_bounds(
    path: Path, place: str, phase: str | None, metric: str, value: Any, error: ValidationError
) -> NoReturn:
    """What is wrong with a limit, in a sentence."""
    first = error.errors()[0]
    key = first["loc"][0]
    if key == "confidence":
        said = f"{place}.confidence is {first['input']!r}"
        _refuse(path, said, f"Use {', '.join(CONFIDENCES)}.")
    if first["type"] == "extra_forbidden" and phase is None:
        near = did_you_mean(near_names(metric, PHASES, 1))
        hint = f"{near} " if near else ""
        hint += f"Phases are {', '.join(PHASES)}; a limit is {{ min = …, max = … }}."
        _refuse(path, f"{place} is neither a phase nor a limit", hint)
    if first["type"] == "extra_forbidden":
        _refuse(path, f"{place} is {value!r}", "Write a number, or { min = …, max = … }.")
    said = f"{place} is {first['input']!r}"
    _refuse(path, said, 'Write a number, or a quantity as "15ms" or "30%".')


def _number(path: Path, place: str, metric: str, written: Number | str) -> Number:
    """A bound in the metric's unit."""
    unit, number = unit_of(metric), written
    if isinstance(written, str):
        try:
            quantity = parse_quantity(written)
        except UsageError as error:
            _refuse(path, f"{place}: {error.message.rstrip('.')}", error.hint)
        fits = {"fraction": "percent", "ns": "ns", "bytes": "bytes"}.get(unit)
        if quantity.kind not in ("plain", fits):
            _refuse(path, f"{place} is {written!r}", f"{metric} is not measured in that unit.")
        number = quantity.number
    assert not isinstance(number, str)
    if not abs(number) <= MOST:  # NaN is not either
        _refuse(path, f"{place} is {written!r:.40}", "Write a number below 10^18.")
    if unit == "fraction" and not 0 <= number <= 1:
        _refuse(path, f"{place} is {written!r}", 'Write a fraction as 0.3 or "30%".')
    return number


def _refuse(path: Path, said: str, hint: str | None) -> NoReturn:
    raise UsageError(f"The budget {path} cannot be used: {said}.", hint=hint)
