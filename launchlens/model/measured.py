"""What is measured without a profiler, and what is known of how a variant was run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from launchlens.model.figures import Phase, Stat


@dataclass(frozen=True, slots=True)
class Untraced:
    """A variant's steps timed with no profiler attached, synchronized. ``phase`` as in steps.

    ``processes_ns``: the median in each process, where it was timed in more than one. The median
    and interval of ``wall_ns`` are then theirs (Student's t: they are few), so that it covers how
    processes differ; ``n`` and the quantiles stay those of all steps.
    """

    phase: Phase
    wall_ns: Stat
    samples_ns: tuple[int, ...] = ()
    processes_ns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RequestFigures:
    """Request-level figures of a variant at one concurrency; medians, untraced."""

    isl: int
    osl: int
    concurrency: int
    ttft_ns: int
    itl_ns: int | None
    latency_ns: int
    requests_per_s: float
    tokens_per_s: float
    repetitions: int


@dataclass(frozen=True, slots=True)
class Equivalence:
    """A variant's outputs beside another's, by dtype; differences in the model's own units.

    ``beside``: the variant of the same run that they were measured against.
    """

    dtype: str
    max_abs_diff: float | None
    identical: bool
    finite: bool
    top1_agreement: float | None = None
    beside: str | None = None


FAILED = {
    "capture": "could not be captured",
    "run": "could not be run",
    "trace": "could not be traced",
}
"""What became of a failed variant, by what was being done."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a variant failed: the error's first line, where, and what to do.

    ``during`` tells a step that could not be captured from a program that could not be run, and
    from one that ran but not under nsys.
    """

    error_type: str
    error_line: str
    source: str | None
    hint: str | None
    log: str | None = None
    during: Literal["capture", "run", "trace"] = "capture"

    @property
    def words(self) -> str:
        """What became of the variant, to stand behind its name."""
        return FAILED[self.during]


@dataclass(frozen=True, slots=True)
class VariantFacts:
    """What is known of a side beyond its trace: how it was run and timed. All may be unknown.

    ``notes`` are what the program that ran it said a reader must know, in sentences.
    """

    model: str | None = None
    variant: str | None = None
    isl: int | None = None
    osl: int | None = None
    batch: int | None = None
    dtype: str | None = None
    layers_note: str | None = None
    notes: tuple[str, ...] = ()
    commit: str | None = None
    command: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    untraced: tuple[Untraced, ...] = ()
    requests: tuple[RequestFigures, ...] = ()
    equivalence: tuple[Equivalence, ...] = ()
    failure: Failure | None = None
    peak_memory_bytes: int | None = None
    graph_memory_bytes: int | None = None
    capture_ns: int | None = None
    captured_phases: tuple[str, ...] = ()
