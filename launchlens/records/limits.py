"""One limit held against one figure: what conditions of ``--fail-on`` and budgets answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from launchlens.records.metric import Unit

Status = Literal["held", "failed", "unknown"]
Measure = Literal["value", "change", "relative"]
Number = int | float


@dataclass(frozen=True, slots=True)
class LimitResult:
    """One limit held against one figure."""

    limit: str
    """The limit as the user wrote it, or `qwen3-0.6b: prefill launches <= 500` of a budget."""
    metric: str
    """Name of the figure."""
    unit: Unit
    """Unit of `value` and `baseline`."""
    where: str
    """What was looked at, such as `cudagraph, prefill`."""
    status: Status
    """`held`, `failed`, or `unknown`, which does not pass."""
    value: Number | None
    """The figure; null when unknown."""
    measure: Measure
    """What the limit bounds: the value, its change, or its relative change."""
    measured: Number | None
    """The bounded quantity: the value, the change in `unit`, or a ratio minus one."""
    bound: Number
    """The number it is held against, in the same terms as `measured`."""
    baseline: Number | None = None
    """The figure it was compared with; null without one."""
    reason: str | None = None
    """Why the figure is unknown, or what stands behind a failure."""

    @property
    def passed(self) -> bool:
        """True when the limit is known to hold. Unknown does not pass."""
        return self.status == "held"
