"""One limit held against one figure: what thresholds and budgets answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from launchlens.records.metric import Unit

Status = Literal["held", "failed", "unknown"]
Measure = Literal["value", "change", "relative"]
Number = int | float


@dataclass(frozen=True, slots=True)
class GateResult:
    """One limit held against one figure.

    Attributes:
        gate: the limit as the user wrote it, or "qwen3-0.6b · prefill · launches <= 500".
        metric: name of the figure.
        unit: unit of ``value`` and ``baseline``.
        where: what was looked at, such as "cudagraph, prefill".
        status: held, failed, or unknown (which does not pass).
        value: the figure in ``unit``; None when unknown.
        measure: what the limit bounds: the value, its change, or its relative change.
        measured: the bounded quantity: the value, the change in ``unit``, or a ratio minus one.
        limit: the bound, in the same terms as ``measured``.
        baseline: the figure it was compared with, in ``unit``; None without one.
        reason: why the figure is unknown, or what stands behind a failure.
    """

    gate: str
    metric: str
    unit: Unit
    where: str
    status: Status
    value: Number | None
    measure: Measure
    measured: Number | None
    limit: Number
    baseline: Number | None = None
    reason: str | None = None

    @property
    def passed(self) -> bool:
        """True when the limit is known to hold. Unknown does not pass."""
        return self.status == "held"
