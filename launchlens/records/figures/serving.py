"""What the steps of a serving engine add: how they ran, what lies between them, which ranges cost.

All of it is per process, phase and, where the GPU is meant, device.
"""

from __future__ import annotations

from dataclasses import dataclass

from launchlens.records.figures.group import Stat
from launchlens.records.figures.words import Phase


@dataclass(frozen=True, slots=True)
class ReplayState:
    """How the steps of one phase and number of tokens ran: as a graph, in pieces, or eagerly."""

    phase: Phase
    """Phase of the steps."""
    pid: int
    """Process id."""
    tokens_from: int | None
    """Fewest tokens of the bucket; null where the range texts tell none."""
    tokens_to: int | None
    """Most tokens of the bucket: a size that the engine captured, or else a power of two."""
    steps: int
    """Steps of the bucket."""
    one_graph: int
    """Steps with a single graph launch."""
    pieces: int
    """Steps with several graph launches."""
    eager: int
    """Steps without a graph launch."""
    capturing: int
    """Steps that were being captured, and so ran nothing."""
    unknown: int
    """Steps whose graph launches cannot be counted."""
    launches_beside: int | float | None
    """Kernel launches outside of graphs, median over the steps; null if unknown in any."""
    padding: float | None
    """Tokens that the replayed graphs computed for each token asked for (1: no padding); null
    where the range texts tell no tokens or the captured sizes are not known."""

    @property
    def replayed(self) -> int:
        """Steps that replayed at least one graph."""
        return self.one_graph + self.pieces


@dataclass(frozen=True, slots=True)
class BetweenSteps:
    """From one step's end to the next one's start on its thread: sampling, scheduling, waiting."""

    after: Phase
    """Phase of the step before."""
    pid: int
    """Process id."""
    device: int | None
    """Device of the step before."""
    intervals: int
    """Intervals the figures are over."""
    length_ns: Stat
    """Length of an interval."""
    launches: Stat
    """Kernel and graph launches of the step's thread in it."""
    graph_launches: Stat
    """Graph launches alone."""
    copies: Stat
    """Memcpy and memset calls."""
    sync_calls: Stat
    """Synchronize calls."""
    idle_ns: Stat
    """Time in it during which the device ran nothing; unknown where work is not in the trace."""


@dataclass(frozen=True, slots=True)
class RangeCost:
    """One NVTX range inside the steps of a phase, at its place among the ranges around it.

    Figures are of a step: the ranges of the same path in it together, median over the steps.
    ``own`` figures leave out what is inside of ranges within. Numbers in texts are written *
    where ranges of several numbers are taken together.
    """

    phase: Phase
    """Phase of the steps."""
    pid: int
    """Process id."""
    path: tuple[str, ...]
    """Names from the outermost range within the step to this one."""
    domain: str
    """NVTX domain; empty for the default one."""
    count: float
    """Ranges in a step, mean."""
    host_ns: float
    """Time between start and end."""
    own_host_ns: float
    """The same without ranges within."""
    launches: float | None
    """Kernel and graph launches; null where the trace has no calls."""
    own_launches: float | None
    """The same without ranges within."""
    idle_ns: float | None
    """Time in which the GPU ran nothing while the host was inside; null if that is not known."""
    own_idle_ns: float | None
    """The same without ranges within."""

    @property
    def name(self) -> str:
        """The last name of the path."""
        return self.path[-1]


@dataclass(frozen=True, slots=True)
class LogReason:
    """Why steps were not captured, in the engine's own words."""

    text: str
    """What the log says."""
    phases: tuple[Phase, ...]
    """Phases it is about; empty: all."""
    remedy: str | None
    """What changes it."""


@dataclass(frozen=True, slots=True)
class EngineLog:
    """What the log of a run says of its graphs."""

    engine: str
    """The engine."""
    captured_sizes: dict[str, tuple[int, ...]]
    """Numbers of tokens, or of requests in decode, for which graphs were captured, by phase."""
    reasons: tuple[LogReason, ...]
    """Why some were not."""
