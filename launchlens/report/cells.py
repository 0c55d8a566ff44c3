"""What a cell of a report holds: figures with unit and bound, and names of the traced program."""

from __future__ import annotations

from dataclasses import dataclass

from launchlens.records.figures import Verdict
from launchlens.records.metric import Bound, Unit

Number = int | float


@dataclass(frozen=True, slots=True)
class Value:
    """A figure: ``number`` None is unknown, or what ``instead`` says ("failed")."""

    number: Number | None
    unit: Unit
    bound: Bound | None = None
    low: Number | None = None
    high: Number | None = None
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """One side's figure in a comparison, with its change against the baseline.

    ``change`` in the value's unit, ``relative`` as a ratio less one; None for the baseline and
    where either side is unknown. ``source``: "trace", "graph trace" or "untraced". ``speed``: less
    of it is faster (`Metric.speed`).
    """

    value: Value
    change: Number | None = None
    relative: float | None = None
    verdict: Verdict = "neutral"
    source: str = "trace"
    note: str | None = None
    change_bound: Bound | None = None
    speed: bool = False


@dataclass(frozen=True, slots=True)
class Name:
    """A name from the traced program (kernel, range, function): shown as code, may be folded.

    ``mark`` stands before it: "+" added, "-" removed, "~" changed. ``full``: the whole name, where
    ``text`` is a short one (`launchlens.kernel_names`).
    """

    text: str
    mark: str = ""
    full: str = ""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval in a cell of its own; nothing where an end is unknown."""

    low: Number | None
    high: Number | None
    unit: Unit
    bound: Bound | None = None


Cell = str | Name | Value | Judged | Interval
