"""Conditions of ``--fail-on``: ``launches>+0``, ``idle>+2pp``, ``window_ns>+5%``, ``blockers``."""

from __future__ import annotations

import re
from typing import NoReturn

from launchlens.catalogue import unit_of
from launchlens.errors import UsageError
from launchlens.limits.model import (
    BLOCKERS,
    CONFIDENCES,
    DEFAULT_CONFIDENCE,
    PHASES,
    Limit,
    Operator,
    Quantity,
    parse_quantity,
    unknown_metric,
)
from launchlens.records.limits import Measure, Number

FORMS = (
    "Write METRIC>+N, METRIC>+N%, METRIC>+Npp or METRIC>N (also >=, <, <=, and -N), with a unit "
    "such as ms where it fits, an optional phase before it (decode:window_ns>+5%), or blockers; "
    "for example launches>+0, idle>+2pp, window_ns>+5%, requests_per_s<-5%, blockers:suspected."
)
_CONDITION = re.compile(
    r"(?:(?P<phase>[a-z]+):)?(?P<metric>[a-z][a-z0-9_.]*)\s*"
    r"(?P<operator>>=|<=|>|<)\s*(?P<sign>[+-])?\s*(?P<quantity>[0-9.].*)"
)
_BLOCKERS = re.compile(rf"{BLOCKERS}(?::(?P<confidence>[a-z]+))?(?P<rest>\s*[<>].*)?")


def parse_condition(text: str) -> Limit:
    """Read one ``--fail-on`` argument: ``METRIC OP [+-]QUANTITY``.

    A signed quantity bounds the change against the baseline, an unsigned one the candidate's own
    value. ``blockers`` alone means ``blockers>0``; ``blockers:LEVEL`` counts findings from that
    confidence on.

    Raises:
        UsageError: the text is none of the accepted forms; the message names them.
    """
    stripped = text.strip()
    confidence, rest = DEFAULT_CONFIDENCE, stripped
    if blockers := _BLOCKERS.fullmatch(stripped):
        confidence = blockers["confidence"] or confidence
        if confidence not in CONFIDENCES:
            _refuse(text, f"{confidence!r} is none of {', '.join(CONFIDENCES)}")
        rest = BLOCKERS + (blockers["rest"] or ">0")
    match = _CONDITION.fullmatch(rest)
    if match is None:
        _refuse(text)
    phase, metric = match["phase"], match["metric"]
    if phase is not None and phase not in PHASES:
        _refuse(text, f"{phase!r} is none of the phases {', '.join(PHASES)}")
    if hint := unknown_metric(metric):
        raise UsageError(f"{text!r} is no threshold: there is no metric {metric}.", hint=hint)
    try:
        quantity = parse_quantity(match["quantity"])
    except UsageError as error:
        _refuse(text, error.message.rstrip("."))
    measure, number = _measure(text, metric, match["sign"], quantity)
    sign: Operator = match["operator"]  # type: ignore[assignment] # the pattern allows no other
    return Limit(stripped, metric, sign, measure, number, phase, confidence)


def _measure(
    text: str, metric: str, sign: str | None, quantity: Quantity
) -> tuple[Measure, Number]:
    """What a quantity bounds for this metric, and the number in the metric's unit."""
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


def _refuse(text: str, why: str | None = None) -> NoReturn:
    said = f": {why}" if why else ""
    raise UsageError(f"{text!r} is no threshold{said}.", hint=FORMS)
