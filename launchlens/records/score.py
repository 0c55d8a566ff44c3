"""Forecasts of stored runs beside their outcomes: the answer of ``launchlens forecast --score``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastOutcome:
    """A forecast that was written down before its variant was measured, and what that took."""

    run_id: str
    """Name of the run."""
    created: str
    """When it began, ISO 8601 in UTC."""
    model: str | None
    """Model."""
    gpu: str | None
    """GPU."""
    variant: str
    """Variant that was forecast."""
    phase: str
    """Phase of its steps."""
    isl: int | None
    """Input tokens of each sequence."""
    batch: int | None
    """Sequences in a step."""
    costs: str | None
    """Costs that it was made with, `shipped` or `measured`."""
    eager_ns: int | None
    """The eager step, untraced."""
    step_ns: int
    """What was forecast."""
    low_ns: int
    """Lower end of its 90% interval."""
    high_ns: int
    """Upper end of it."""
    outcome_ns: int
    """What the step took, untraced."""
    error: float
    """Forecast over outcome, less one."""
    held: bool
    """Whether the interval held the outcome."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastScore:
    """All of them: the JSON object of ``launchlens forecast --score --format json``."""

    schema: Literal["launchlens.forecast-score/1"] = "launchlens.forecast-score/1"
    """Name and version of this layout."""
    outcomes: tuple[ForecastOutcome, ...]
    """The forecasts that can be scored, oldest first."""
    median_error: float | None
    """Median of the absolute errors; null without any."""
    worst_error: float | None
    """Largest absolute error."""
    held: int
    """Intervals that held the outcome."""
