"""Steps of one phase, process and device together: figures over them, and tables."""

from __future__ import annotations

from dataclasses import dataclass

from launchlens.records.figures.words import BoundBy, Phase
from launchlens.records.metric import Bound


@dataclass(frozen=True, slots=True)
class Stat:
    """One figure over the steps of a group; the interval is the bootstrap's."""

    median: float | int | None
    """Median over the steps; null if unknown for any of them."""
    p10: float | int | None
    """10% quantile."""
    p90: float | int | None
    """90% quantile."""
    p99: float | int | None
    """99% quantile."""
    ci_low: float | int | None
    """Lower end of the 95% interval of the median; null with one step."""
    ci_high: float | int | None
    """Upper end."""
    n: int
    """Steps that have the figure."""
    unknown: int = 0
    """Steps that do not."""
    bound: Bound | None = None
    """`lower` or `upper` where the figure is only a bound of the true one."""


@dataclass(frozen=True, slots=True)
class GapBin:
    """Gaps of one length class, summed over the group's steps."""

    from_ns: int
    """Gaps at least this long."""
    below_ns: int | None
    """And shorter than this; null for the last class."""
    count: int
    """Gaps of the class, all steps of the group."""
    total_ns: int
    """Their length together."""


@dataclass(frozen=True, slots=True)
class KernelRow:
    """One kernel name over the group's steps."""

    name: str
    """Kernel name, demangled."""
    count: int
    """Runs in all steps of the group."""
    total_ns: int
    """Time of these runs, a sum."""
    median_ns: int | None
    """Median time of a run; null if the time of none is known."""
    share: float | None
    """Part of all kernel time; null if that is not known."""
    count_bound: Bound | None = None
    """`lower` where there may have been more runs."""
    total_bound: Bound | None = None
    """`lower` where the time of some runs is not known."""


@dataclass(frozen=True, slots=True)
class FollowerRow:
    """An operation after which the GPU stood idle: how often, how long, how often it ran."""

    name: str
    """Kernel or operation after which the GPU stood idle."""
    gaps: int
    """Gaps that follow it, all steps of the group."""
    idle_ns: int
    """Length of these gaps together."""
    count: int
    """How often it ran."""


@dataclass(frozen=True, slots=True)
class ApiRow:
    """One API function over the group's steps (base name), time spent inside the calls."""

    name: str
    """API function, without version and stream suffix."""
    count: int
    """Calls in all steps of the group."""
    total_ns: int
    """Time inside these calls."""
    median_ns: int
    """Median time inside one call."""
    bound: Bound | None = None
    """`lower` where there may have been more calls of this name."""


@dataclass(frozen=True, slots=True)
class Group:
    """Steps of one phase in one process on one device, never mixed with others."""

    phase: Phase
    """Phase of its steps."""
    pid: int
    """Process id."""
    device: int | None
    """Device id; null where the trace shows no device work."""
    engine: str
    """Pattern that named the steps."""
    steps: int
    """Steps the figures are over."""
    dropped: int
    """Steps left out by `--skip`."""
    metrics: dict[str, Stat]
    """Figure by name; a gap cause is `gaps_ns.host` and so on."""
    graph_tracing: str | None
    """Graph tracing the steps share; `mixed` where they differ."""
    bound: BoundBy | None
    """Bound the steps share; `mixed` where they differ."""
    tokens: int | None
    """Tokens in each step as the range texts state; null if not stated or not the same."""
    unknown_reason: str | None
    """Why some figures are unknown, and the remedy."""
    gap_histogram: tuple[GapBin, ...]
    """Gaps by length."""
    gap_followers: tuple[FollowerRow, ...]
    """After what the GPU stood idle, longest first."""
    kernels: tuple[KernelRow, ...]
    """Kernels by name, longest first."""
    api_calls: tuple[ApiRow, ...]
    """API calls by function, longest first."""
