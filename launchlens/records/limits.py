"""One limit held against one figure: what conditions of ``--fail-on`` and budgets answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from launchlens.records.metric import Bound, Unit

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
    value_bound: Bound | None = None
    """`lower` or `upper` where the figure is only a bound of the true one."""
    baseline_bound: Bound | None = None
    """The same of the figure it was compared with."""

    @property
    def passed(self) -> bool:
        """True when the limit is known to hold. Unknown does not pass."""
        return self.status == "held"


@dataclass(frozen=True, slots=True)
class TraceLimits:
    """The limits of a budget that are for one trace."""

    label: str
    """Name of the trace, or RUN:VARIANT."""
    held: bool
    """Whether all of them hold; an unknown one does not."""
    results: tuple[LimitResult, ...]
    """One for each limit and figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReport:
    """Traces held against a budget: the JSON object of ``launchlens check --format json``."""

    schema: Literal["launchlens.limits/1"] = "launchlens.limits/1"
    """Name and version of this layout."""
    budget: str
    """The budget file as named."""
    held: bool
    """Whether all limits hold on all traces."""
    traces: tuple[TraceLimits, ...]
    """The traces in the order named."""
