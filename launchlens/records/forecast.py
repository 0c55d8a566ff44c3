"""What a step would take if it were captured, or if something of it were gone: forecasts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from launchlens.records.figures import Phase, TraceInfo

Verdict = Literal["faster", "little", "slower", "unknown"]
"""What a change brings; `little`: less than the smallest saving that matters, or perhaps none."""
UntracedSource = Literal["measured", "given", "estimated"]
"""`measured` by the run that the trace is of, `given` by hand, or `estimated` from the trace."""


@dataclass(frozen=True, slots=True)
class StepForecast:
    """What a step of one phase would take under one change."""

    variant: str
    """The change: `cudagraph` (the whole step as one CUDA graph), `breakable` (a graph broken at
    some calls), `halved` (half the kernel launches), or what was asked for (`without RULE`, …)."""
    phase: Phase
    """Phase of the steps."""
    step_ns: int
    """Time of the step, untraced."""
    low_ns: int
    """Lower end of its 90% interval."""
    high_ns: int
    """Upper end of it."""
    speedup: float | None
    """How many times faster than the step as it is, untraced; below 1 it is slower. Null where
    ``part`` says that the time is of a part of the step."""
    speedup_low: float | None
    """Lower end of its 90% interval."""
    speedup_high: float | None
    """Upper end of it."""
    saved_ns: int | None
    """The step as it is less ``step_ns``; negative where the change loses."""
    verdict: Verdict
    """What it brings."""
    graph_launches: int
    """CUDA graphs that the step would launch."""
    launches: int
    """Launches that it would make, of kernels and of graphs."""
    operations: int
    """Operations that the GPU would run."""
    busy_ns: int
    """Time of its operations one by one, as the trace has them, with those that the change adds."""
    added_ns: int
    """The part of ``step_ns`` that is work which the change adds."""
    part: bool = False
    """Whether it is of the forward pass alone, since the step's range holds work of the engine's
    own which no graph takes away, and the trace does not tell that apart."""
    asked: bool = False
    """Whether it answers an option, and is not a change that is always looked at."""


@dataclass(frozen=True, slots=True)
class RangeSaving:
    """What a step would save if the CPU's work in some of its NVTX ranges took no time."""

    phase: Phase
    """Phase of the steps."""
    range: str
    """Text of the ranges; numbers in it, such as those of layers, stand as #."""
    host_ns: int
    """CPU time within them in a step, tracing taken off, without waits."""
    saved_ns: int
    """By how much the step would be shorter."""


@dataclass(frozen=True, slots=True)
class Untraced:
    """The step as it is, without a profiler."""

    phase: Phase
    """Phase of the steps."""
    step_ns: int
    """Its time."""
    low_ns: int
    """Lower end of its 90% interval; the time itself where that was given."""
    high_ns: int
    """Upper end of it."""
    traced_ns: int
    """What it takes in the trace."""
    source: UntracedSource
    """Where its time comes from."""
    steps: int
    """Steps of the trace that the forecasts are made from."""


@dataclass(frozen=True, slots=True)
class ConstantsUsed:
    """The costs of launches and graphs that forecasts were made with."""

    gpu: str
    """GPU that they were measured on."""
    driver: str | None
    """Its driver."""
    cuda: str | None
    """Its CUDA version."""
    source: Literal["shipped", "measured"]
    """`shipped` with launchlens, or `measured` on this machine by `launchlens calibrate`."""
    foreign: bool
    """Whether the trace is of another GPU, so that intervals are wide."""
    evidence: str
    """What they were measured from."""
    costs_ns: dict[str, float]
    """Each of them, in nanoseconds, by name (docs/forecast.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Forecasts from one eager trace: the JSON object of ``launchlens forecast --format json``."""

    schema: Literal["launchlens.forecast/1"] = "launchlens.forecast/1"
    """Name and version of this layout."""
    label: str
    """Name of the trace."""
    trace: TraceInfo
    """The trace."""
    untraced_ns: int | None
    """The step as it is, untraced, of the first phase; null where there is no forecast."""
    untraced: tuple[Untraced, ...]
    """The same for every phase, with where it comes from."""
    forecasts: tuple[StepForecast, ...]
    """The forecasts, by phase, the whole step as one graph first."""
    constants: ConstantsUsed | None
    """What they were made with."""
    ranges: tuple[RangeSaving, ...] = ()
    """What ranges within the steps would save if the CPU were free in them, the most first."""
    broken_at: str = "attention"
    """Where breakable graphs are broken: attention, or the expression of ``--break-at``."""
    unanswered: tuple[str, ...] = ()
    """Why there is no forecast of some steps, in sentences."""
    notes: tuple[str, ...] = ()
    """What a reader must know of them, in sentences."""
