"""What a child measured of a prepared variant."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from launchlens.protocol.checked import STRICT
from launchlens.protocol.facts import VariantFailure
from launchlens.protocol.step import PreparedKind, StepPhase


@dataclass(frozen=True, slots=True, config=STRICT)
class TimedSteps:
    """Wall times of a phase's steps, in the order they ran."""

    samples_ns: tuple[int, ...]
    median_ns: int


@dataclass(frozen=True, slots=True, config=STRICT)
class TracedSteps:
    """Steps of a phase that were marked with a range."""

    count: int


@dataclass(frozen=True, slots=True, config=STRICT)
class RequestSamples:
    """Measurements of requests, in the order they ran; ``itl_ns``: mean of each request."""

    ttft_ns: tuple[int, ...]
    itl_ns: tuple[int, ...]
    latency_ns: tuple[int, ...]


@dataclass(frozen=True, slots=True, config=STRICT)
class TimedRequests:
    """Requests of one concurrency: medians, rates from the median latency, samples."""

    concurrency: int
    isl: int
    osl: int
    repetitions: int
    captured: dict[StepPhase, PreparedKind]
    samples: RequestSamples
    ttft_ns: int
    itl_ns: int | None
    latency_ns: int
    requests_per_s: float
    tokens_per_s: float


@dataclass(frozen=True, slots=True, config=STRICT)
class UntimedRequests:
    """Requests of a concurrency for which the variant could not be prepared."""

    concurrency: int
    isl: int
    osl: int
    failure: VariantFailure


@dataclass(frozen=True, slots=True, config=STRICT)
class SavedOutputs:
    """Outputs saved for the equivalence check."""

    path: str
    finite: dict[str, bool]
    """By dtype: no infinity and no NaN in any phase."""
    failures: dict[str, VariantFailure]
    """Dtypes without outputs, and why."""


@dataclass(frozen=True, slots=True, config=STRICT)
class CompileCounts:
    """What torch.compile made."""

    graphs: int
    graph_breaks: int


@dataclass(frozen=True, slots=True, config=STRICT)
class TimedCost:
    """Mode calibrate: a kind of work, at one size."""

    kind: str
    """What was timed ("graph, GPU")."""
    size: int
    """Launches or nodes."""
    samples_ns: Annotated[tuple[int, ...], Field(strict=False)]
    """Every sample."""
