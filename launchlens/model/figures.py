"""Figures of one trace: steps, groups of steps, findings. Names are those of the JSON output.

Times are integers in nanoseconds, fractions lie between 0 and 1, unknown is None.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pandas as pd

GraphTracing = Literal["none", "node", "graph", "mixed", "missing"]
Phase = Literal["prefill", "decode", "mixed", "unknown"]
Bound = Literal["launch-bound", "gpu-bound", "sync-bound", "mixed"]
Verdict = Literal["better", "worse", "same", "inconclusive", "unknown", "neutral"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A message of nsys about the recording (DIAGNOSTIC_EVENT), errors and warnings only."""

    severity: str
    text: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class TraceInfo:
    """Where a trace comes from and how it was recorded; the JSON object ``trace``.

    ``graph_tracing`` is the recording's setting ("node", "graph") where the export tells it.
    ``unlinked_ops`` counts GPU operations without an API row, of ``ops`` operations.
    """

    file: str
    label: str
    sha256: str | None
    nsys_version: str | None
    export_schema: str | None
    gpu: str | None
    driver: str | None
    cuda_driver: str | None
    graph_tracing: str | None
    cuda_traced: bool | None
    api_calls: int
    ops: int
    unlinked_ops: int
    profiler_overhead_ns: int | None
    diagnostics: tuple[Diagnostic, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gaps:
    """Idle time of a window by cause; the causes sum to the idle time exactly."""

    lead_in: int
    host: int
    launch: int
    sync: int
    device: int
    tail: int
    unlinked: int


@dataclass(frozen=True, slots=True)
class Step:
    """Every figure of one forward pass on one device (docs/definitions.md)."""

    index: int
    range: str
    domain: str
    engine: str
    phase: Phase
    pid: int
    tid: int
    device: int | None
    start_ns: int
    end_ns: int
    tokens: int | None
    kernel_launches: int | None
    graph_launches: int | None
    launches: int | None
    memcpy_calls: int | None
    memset_calls: int | None
    submissions: int | None
    sync_calls: int | None
    alloc_calls: int | None
    captured_calls: int | None
    kernels: int | None
    memcpys: int | None
    memsets: int | None
    graph_spans: int | None
    graph_tracing: GraphTracing | None
    hidden_graph_launches: int | None
    cpu_ns: int
    projected_ns: int | None
    window_ns: int | None
    busy_ns: int | None
    kernel_busy_ns: int | None
    idle: float | None
    idle_kernels_only: float | None
    idle_projected: float | None
    gaps_ns: Gaps | None
    lead_in_ns: int | None
    tail_ns: int | None
    launch_cost_ns: int | None
    launch_cost_total_ns: int | None
    inter_launch_ns: int | None
    queue_ns: int | None
    tklqt_ns: int | None
    bound: Bound | None
    unknown_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Stat:
    """One figure over the steps of a group.

    ``ci_low`` and ``ci_high`` bound the median (95%, bootstrap); None with fewer than two
    steps. ``n`` steps have the figure, ``unknown`` steps do not; with any unknown step the
    figure of the group is unknown too (``median`` None).
    """

    median: float | int | None
    p10: float | int | None
    p90: float | int | None
    p99: float | int | None
    ci_low: float | int | None
    ci_high: float | int | None
    n: int
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class GapBin:
    """Gaps of one length class, summed over the group's steps. ``below_ns`` None: no bound."""

    from_ns: int
    below_ns: int | None
    count: int
    total_ns: int


@dataclass(frozen=True, slots=True)
class KernelRow:
    """One kernel name over the group's steps. ``share`` is of all kernel time."""

    name: str
    count: int
    total_ns: int
    median_ns: int
    share: float


@dataclass(frozen=True, slots=True)
class FollowerRow:
    """An operation after which the GPU stood idle: how often, how long, how often it ran."""

    name: str
    gaps: int
    idle_ns: int
    count: int


@dataclass(frozen=True, slots=True)
class ApiRow:
    """One API function over the group's steps (base name), time spent inside the calls."""

    name: str
    count: int
    total_ns: int
    median_ns: int


@dataclass(frozen=True, slots=True)
class Group:
    """Steps of one phase in one process on one device, never mixed with others."""

    phase: Phase
    pid: int
    device: int | None
    engine: str
    steps: int
    dropped: int
    metrics: dict[str, Stat]
    graph_tracing: str | None
    bound: Bound | None
    tokens: int | None
    unknown_reason: str | None
    gap_histogram: tuple[GapBin, ...]
    gap_followers: tuple[FollowerRow, ...]
    kernels: tuple[KernelRow, ...]
    api_calls: tuple[ApiRow, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One suspect or confirmed blocker of CUDA graph capture (docs/blockers.md).

    ``silent``: it does not stop a capture, but what is captured may go wrong on replay.
    """

    rule: str
    confidence: Literal["suspected", "likely", "confirmed", "cleared"]
    title: str
    count_per_step: float
    stable: bool
    bytes: int | None
    kinds: str | None
    source: str | None
    stack: tuple[str, ...]
    host_ns: int | None
    idle_ns: int | None
    position: str | None
    remedy: str
    note: str | None = None
    phase: Phase | None = None
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Analysis:
    """What one trace says: the JSON object of ``launchlens analyze --format json``."""

    schema: Literal["launchlens.analysis/1"]
    trace: TraceInfo
    steps: tuple[Step, ...]
    summary: tuple[Group, ...]
    skipped: int
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    def steps_frame(self) -> pd.DataFrame:
        """Every figure of every step as a DataFrame, a row a step (gaps as ``gaps_ns.host`` …)."""
        import pandas as pd

        return pd.json_normalize([asdict(step) for step in self.steps])

    def summary_frame(self) -> pd.DataFrame:
        """Medians, quantiles and intervals, a row for each (phase, pid, device, metric)."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"phase": g.phase, "pid": g.pid, "device": g.device, "metric": name} | asdict(stat)
                for g in self.summary
                for name, stat in g.metrics.items()
            ]
        )
