"""One figure over stored runs: what `launchlens runs trend` draws."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A figure in one run: the median over its steps, with its 95% interval where known.

    ``change`` is its difference from the run before that has the figure, in its own unit;
    ``relative`` the same as a ratio minus one.
    """

    run_id: str
    created: str
    git_commit: str | None
    git_dirty: bool | None
    value: float | int | None
    ci_low: float | int | None = None
    ci_high: float | int | None = None
    relative: float | None = None
    change: float | int | None = None


@dataclass(frozen=True, slots=True)
class TrendSeries:
    """One figure over runs that can be compared: same model, GPU, shape, variant and phase."""

    metric: str
    unit: str
    model: str | None
    variant: str
    gpu: str | None
    shape: str
    phase: str | None
    source: str
    points: tuple[TrendPoint, ...]

    @property
    def known(self) -> tuple[TrendPoint, ...]:
        """The points whose figure is known, oldest first."""
        return tuple(point for point in self.points if point.value is not None)
