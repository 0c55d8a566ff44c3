"""One figure over stored runs: what `launchlens runs trend` draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from launchlens.records.metric import Bound, Unit


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A figure in one run: the median over its steps, with its 95% interval where known."""

    run_id: str
    """Name of the run."""
    created: str
    """When the run began, ISO 8601 in UTC."""
    git_commit: str | None
    """Full hash of the working folder's commit."""
    git_dirty: bool | None
    """Whether files were changed or untracked."""
    value: float | int | None
    """The figure, in the unit of the series; null if unknown."""
    ci_low: float | int | None = None
    """Lower end of the 95% interval of the median."""
    ci_high: float | int | None = None
    """Upper end."""
    relative: float | None = None
    """Ratio to the run before that has the figure, less one."""
    change: float | int | None = None
    """Difference from that run, in the unit of the series."""
    bound: Bound | None = None
    """`lower` or `upper` where the figure is only a bound of the true one."""


@dataclass(frozen=True, slots=True)
class TrendSeries:
    """One figure over runs that can be compared: same model, GPU, shape, variant and phase."""

    metric: str
    """Name of the figure."""
    unit: Unit
    """Unit of its values: `count`, `ns`, `fraction`, `bytes` or `per_s`."""
    model: str | None
    """Model as the user named it."""
    variant: str
    """Variant of the model's forward pass."""
    gpu: str | None
    """GPU name."""
    shape: str
    """Input and output lengths, batch, dtype, concurrency, in words."""
    phase: str | None
    """Phase of the steps; null for figures of requests and variants."""
    source: str
    """How it was measured: `untraced`, or the kind of trace (`node`, `graph`, `none`)."""
    points: tuple[TrendPoint, ...]
    """The runs, oldest first."""

    @property
    def known(self) -> tuple[TrendPoint, ...]:
        """The points whose figure is known, oldest first."""
        return tuple(point for point in self.points if point.value is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """A figure over stored runs: the JSON object of ``launchlens runs trend --format json``."""

    schema: Literal["launchlens.trend/1"] = "launchlens.trend/1"
    """Name and version of this layout."""
    series: tuple[TrendSeries, ...]
    """One for each model, GPU, shape, variant and phase."""
