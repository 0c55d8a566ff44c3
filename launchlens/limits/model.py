"""A limit on a figure, however it was written, and quantities with units."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NoReturn, get_args

from launchlens.catalogue import by_name, unit_of
from launchlens.errors import UsageError
from launchlens.records.figures import Phase
from launchlens.records.limits import Measure, Number
from launchlens.records.metric import Unit
from launchlens.suggestions import did_you_mean, near_names

Operator = Literal[">", ">=", "<", "<="]

BLOCKERS = "blockers"
CONFIDENCES = ("suspected", "likely", "confirmed")
DEFAULT_CONFIDENCE: Final = "likely"
PHASES: tuple[str, ...] = get_args(Phase)

_COMPARE = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
_SCALES: dict[str, tuple[Literal["ns", "bytes"], float]] = {
    "ns": ("ns", 1),
    "us": ("ns", 1e3),
    "µs": ("ns", 1e3),
    "ms": ("ns", 1e6),
    "s": ("ns", 1e9),
    "B": ("bytes", 1),
    "KiB": ("bytes", 2**10),
    "MiB": ("bytes", 2**20),
    "GiB": ("bytes", 2**30),
}
_QUANTITY = re.compile(
    r"(?P<number>\d{1,18}(?:\.\d{1,18})?|\.\d{1,18})\s*(?P<suffix>%|pp|[A-Za-zµ]+)?"
)


@dataclass(frozen=True, slots=True)
class Limit:
    """What a figure must not do: it fails when ``measured fails number``.

    ``text`` is as it was written. ``metric`` is one of the catalogue, or "blockers". ``number`` is
    in its unit, or a ratio less one for a relative change. ``phase`` None: all. ``confidence`` is
    the least of a blocker that counts. ``pattern``: models or traces of a budget; None for a
    condition.
    """

    text: str
    metric: str
    fails: Operator
    measure: Measure
    number: Number
    phase: str | None = None
    confidence: str = DEFAULT_CONFIDENCE
    pattern: str | None = None

    @property
    def unit(self) -> Unit:
        """Unit of the metric."""
        return unit_of(self.metric)

    @property
    def is_upper(self) -> bool:
        """Whether more of it fails."""
        return self.fails in (">", ">=")

    def fails_for(self, measured: Number) -> bool:
        """Whether it is broken by this quantity."""
        return bool(_COMPARE[self.fails](measured, self.number))


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as written, in base units: ns, bytes, a fraction, or a count.

    ``kind`` tells what the suffix said: "plain" (none), "percent", "points" (percentage points, as
    a fraction) or a unit ("ns", "bytes").
    """

    number: Number
    kind: Literal["plain", "percent", "points", "ns", "bytes"]


def parse_quantity(text: str) -> Quantity:
    """Read "500", "15ms", "50%", "2pp" or "1.5 GiB".

    Raises:
        UsageError: the text is no number, or its suffix is none of the known ones.
    """
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f"{text!r:.80} is no quantity.", hint="Write 500, 15ms, 50%, 2pp or 1.5GiB."
        )
    digits, suffix = match["number"], match["suffix"]
    number: Number = float(digits) if "." in digits else int(digits)
    if suffix is None:
        return Quantity(number, "plain")
    if suffix in ("%", "pp"):
        return Quantity(number / 100, "percent" if suffix == "%" else "points")
    if suffix not in _SCALES:
        raise UsageError(
            f"{suffix!r} in {text!r} is no unit.", hint=f"Use %, pp, {', '.join(_SCALES)} or none."
        )
    unit, scale = _SCALES[suffix]
    return Quantity(number * scale, unit)


def unknown_metric(name: str) -> str | None:
    """What to do about a name that no metric has; None for those of the catalogue and blockers."""
    known = (*by_name(), BLOCKERS)
    if name in known:
        return None
    near = did_you_mean(near_names(name, known))
    return near or "docs/definitions.md lists all metrics."


def ask_for_blockers(limits: Sequence[Limit]) -> bool:
    """Whether a limit is on capture blockers, so that they have to be looked for."""
    return any(limit.metric == BLOCKERS for limit in limits)


def require_values(limits: Sequence[Limit]) -> None:
    """Refuse limits on changes, where there is nothing to change from.

    Raises:
        UsageError: a limit on a change.
    """
    for limit in limits:
        if limit.measure != "value":
            raise UsageError(
                f"The threshold {limit.text!r} needs a baseline.",
                hint="Use it with two traces, or write a limit without sign, as launches>1000.",
            )


def require_steps(limits: Sequence[Limit]) -> None:
    """Refuse limits that need more than one trace: on changes, and on what only runs measure.

    Raises:
        UsageError: such a limit.
    """
    require_values(limits)
    for limit in limits:
        if limit.metric in by_name() and by_name()[limit.metric].owner != "step":
            refuse_metric(limit)


def refuse_metric(limit: Limit) -> NoReturn:
    """End a command whose limit is on a metric of runs, where there is nothing but steps."""
    what = "threshold" if limit.pattern is None else "budget limit"
    raise UsageError(
        f"The {what} {limit.text!r} cannot be held on a trace alone: {limit.metric} is measured "
        "in runs.",
        hint="Use it with diff or check, on RUN:VARIANT of a stored run.",
    )


def require_blockers(limits: Sequence[Limit]) -> None:
    """Refuse limits on anything but how many blockers there are.

    Raises:
        UsageError: a limit on another metric, or on a change.
    """
    for limit in limits:
        if limit.metric != BLOCKERS or limit.measure != "value":
            raise UsageError(
                f"The threshold {limit.text!r} does not fit: there are only blockers here.",
                hint="Use blockers, blockers>N or blockers:suspected.",
            )
