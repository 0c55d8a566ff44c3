"""Figures of one trace: steps, groups of steps, findings. Names are those of the JSON output.

Times are integers in nanoseconds, fractions lie between 0 and 1, unknown is None.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from launchlens.records.metric import Bound, Metric

if TYPE_CHECKING:
    import pandas as pd

GraphTracing = Literal["none", "node", "graph", "mixed", "missing"]
Phase = Literal["prefill", "decode", "mixed", "unknown"]
BoundBy = Literal["launch-bound", "gpu-bound", "sync-bound", "mixed"]
Verdict = Literal["better", "worse", "same", "inconclusive", "unknown", "neutral"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A message of nsys about the recording (DIAGNOSTIC_EVENT), errors and warnings only."""

    severity: str
    """Error or warning."""
    text: str
    """Nsys's message."""
    count: int = 1
    """How often it came."""


@dataclass(frozen=True, slots=True)
class TraceInfo:
    """Where a trace comes from and how it was recorded; the JSON object ``trace``.

    ``graph_tracing`` is the recording's setting ("node", "graph") where the export tells it.
    ``unlinked_ops`` counts GPU operations without an API row, of ``ops`` operations.
    """

    file: str
    """File as named."""
    label: str
    """Short name made from the file name."""
    sha256: str | None
    """Digest of the file as named; null for files over 64 MiB."""
    nsys_version: str | None
    """Version of nsys that exported it."""
    export_schema: str | None
    """Version of the export's layout."""
    gpu: str | None
    """GPU name."""
    driver: str | None
    """Driver version."""
    cuda_driver: str | None
    """CUDA version of the driver."""
    graph_tracing: str | None
    """Graph tracing the recording was set to."""
    cuda_traced: bool | None
    """Whether the recording was set to trace CUDA."""
    api_calls: int
    """API call rows."""
    ops: int
    """GPU operation rows."""
    unlinked_ops: int
    """GPU operations without an API row."""
    profiler_overhead_ns: int | None
    """Time nsys spent on itself, as it says."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Errors and warnings of nsys about the recording."""
    warnings: tuple[str, ...] = ()
    """What launchlens noticed about the trace, in sentences."""
    format: str = "nsys"
    """Format of the trace, which is that of the program that recorded it."""


@dataclass(frozen=True, slots=True)
class Gaps:
    """Idle time of a window by cause; the causes sum to the idle time exactly."""

    lead_in: Annotated[
        int,
        Metric(
            "idle in the lead-in",
            "ns",
            "less",
            cause="in the lead-in",
            legend="before the step's first operation",
            of_window=True,
        ),
    ]
    """Idle before the step's first own operation."""
    host: Annotated[
        int,
        Metric(
            "idle waiting for the host",
            "ns",
            "less",
            "headline",
            cause="for the host",
            legend="the CPU was busy elsewhere",
            of_window=True,
        ),
    ]
    """Idle while the CPU was busy elsewhere, before the call that ends the gap."""
    launch: Annotated[
        int,
        Metric(
            "idle during launches",
            "ns",
            "less",
            "headline",
            cause="for launches",
            legend="latency of the launch itself",
            of_window=True,
        ),
    ]
    """Idle from that call's start on: the launch's own latency."""
    sync: Annotated[
        int,
        Metric(
            "idle in synchronization",
            "ns",
            "less",
            "headline",
            cause="in synchronization",
            legend="inside a synchronize call or a blocking copy",
            of_window=True,
        ),
    ]
    """Idle while the step's thread was inside a synchronize call or a blocking copy."""
    device: Annotated[
        int,
        Metric(
            "idle on the device",
            "ns",
            "less",
            "headline",
            under_spans="lower",
            cause="between operations on the device",
            legend="submitted in time, the GPU was not ready",
            of_window=True,
        ),
    ]
    """Idle although the next operation was submitted in time."""
    tail: Annotated[
        int,
        Metric(
            "idle in the tail",
            "ns",
            "less",
            legend="after the device's last operation",
            of_window=True,
        ),
    ]
    """Idle after the device's last operation in the window."""
    unlinked: Annotated[
        int, Metric("idle, unlinked", "ns", "less", legend="no API call recorded", of_window=True)
    ]
    """Idle before an operation that has no API row."""


@dataclass(frozen=True, slots=True)
class Step:
    """Every figure of one forward pass on one device (docs/definitions.md)."""

    index: int
    """Number of the step among those chosen, in start order."""
    range: str
    """Text of the NVTX range."""
    domain: str
    """Its NVTX domain; empty for the default one."""
    engine: str
    """Pattern that named it."""
    phase: Phase
    """Prefill, decode, mixed or unknown."""
    pid: int
    """Process id."""
    tid: int
    """Thread id."""
    device: int | None
    """Device id; null where the trace shows no device work."""
    start_ns: int
    """Start of the range, on the trace's clock."""
    end_ns: int
    """End of the range."""
    tokens: int | None
    """Tokens as the range text states; null if it does not."""
    launches: Annotated[
        int | None,
        Metric(
            "launches per step",
            "count",
            "less",
            "headline",
            always=True,
            calls=("kernel", "graph"),
            tile=0,
        ),
    ]
    """Kernel launches + graph launches."""
    kernel_launches: Annotated[
        int | None, Metric("kernel launches", "count", "less", calls=("kernel",))
    ]
    """Kernel launch calls."""
    graph_launches: Annotated[int | None, Metric("graph launches", "count", calls=("graph",))]
    """Graph launch calls."""
    hidden_graph_launches: Annotated[
        int | None, Metric("graph launches without work in the trace", "count", shown="detail")
    ]
    """Graph launches whose work is not in the trace."""
    memcpy_calls: Annotated[int | None, Metric("memcpy calls", "count", "less", calls=("memcpy",))]
    """Memcpy calls."""
    memset_calls: Annotated[int | None, Metric("memset calls", "count", "less", calls=("memset",))]
    """Memset calls."""
    submissions: Annotated[
        int | None,
        Metric(
            "submissions", "count", "less", "detail", calls=("kernel", "graph", "memcpy", "memset")
        ),
    ]
    """Launches + memcpy calls + memset calls."""
    sync_calls: Annotated[
        int | None, Metric("sync calls", "count", "less", "headline", calls=("sync",), tile=5)
    ]
    """Synchronize calls."""
    alloc_calls: Annotated[
        int | None, Metric("alloc calls", "count", "less", calls=("alloc", "stream_alloc"))
    ]
    """Calls that allocate, free, register or map memory."""
    captured_calls: Annotated[int | None, Metric("captured calls", "count")]
    """Calls made while the stream was being captured, which submitted nothing."""
    kernels: Annotated[
        int | None, Metric("kernels on the GPU", "count", "less", "headline", always=True)
    ]
    """Kernels that ran; null under whole-graph tracing."""
    memcpys: Annotated[int | None, Metric("memcpys on the GPU", "count", "less")]
    """Copies that ran; null under whole-graph tracing."""
    memsets: Annotated[int | None, Metric("memsets on the GPU", "count", "less")]
    """Memsets that ran; null under whole-graph tracing."""
    graph_spans: Annotated[int | None, Metric("graph spans", "count")]
    """Whole-graph rows."""
    window_ns: Annotated[
        int | None,
        Metric("step, traced", "ns", "less", "headline", always=True, timed=True, tile=3),
    ]
    """Range start to the later of range end and last own operation's end."""
    idle: Annotated[
        float | None,
        Metric(
            "GPU idle, traced",
            "fraction",
            "less",
            "headline",
            always=True,
            under_spans="lower",
            adds_up=False,
            of_window=True,
            caution="node-level tracing lengthens graphs, so captured sides idle less than shown",
            caution_in="node",
            tile=1,
        ),
    ]
    """1 − busy_ns / window_ns."""
    idle_kernels_only: Annotated[
        float | None,
        Metric(
            "GPU idle, kernels only",
            "fraction",
            "less",
            under_spans="lower",
            adds_up=False,
            of_window=True,
        ),
    ]
    """1 − kernel_busy_ns / window_ns."""
    idle_projected: Annotated[
        float | None,
        Metric(
            "GPU idle, projected range",
            "fraction",
            "less",
            under_spans="lower",
            adds_up=False,
            of_window=True,
        ),
    ]
    """Idle over the projected range instead of the window."""
    busy_ns: Annotated[
        int | None,
        Metric(
            "GPU busy", "ns", "less", "headline", always=True, under_spans="upper", of_window=True
        ),
    ]
    """Time within the window in which the device ran anything."""
    kernel_busy_ns: Annotated[
        int | None, Metric("GPU busy, kernels only", "ns", "less", "detail", under_spans="upper")
    ]
    """Time within the window in which the device ran kernels or graph spans."""
    cpu_ns: Annotated[int, Metric("range on the CPU", "ns", "less")]
    """Length of the range."""
    projected_ns: Annotated[int | None, Metric("projected range", "ns", "less", "detail")]
    """First own operation's start to last own operation's end."""
    lead_in_ns: Annotated[int | None, Metric("lead-in", "ns", "less", "detail")]
    """Range start to first own operation's start."""
    tail_ns: Annotated[int | None, Metric("tail", "ns")]
    """Last own operation's end to range end; negative where the host ran ahead."""
    gaps_ns: Gaps | None
    """Idle time by cause."""
    launch_cost_ns: Annotated[int | None, Metric("launch cost, median call", "ns", adds_up=False)]
    """Median duration of a launch call."""
    launch_cost_total_ns: Annotated[
        int | None, Metric("launch cost, all calls", "ns", "less", "headline")
    ]
    """Duration of all launch calls."""
    inter_launch_ns: Annotated[
        int | None, Metric("inter-launch interval", "ns", "less", adds_up=False)
    ]
    """Median time from one launch call's start to the next's."""
    queue_ns: Annotated[int | None, Metric("queue time, median", "ns", adds_up=False)]
    """Median time from the end of an operation's call to its start, 0 where it started earlier."""
    tklqt_ns: Annotated[
        int | None,
        Metric("TKLQT", "ns", caution="a well-fed GPU has a large TKLQT too: read it beside idle"),
    ]
    """Sum over kernels of start less launch call's start (arXiv 2504.11750)."""
    graph_tracing: GraphTracing | None
    """How its graphs show in the trace: none, node, graph, mixed or missing."""
    bound: BoundBy | None
    """What the step is bound by."""
    unknown_reason: str | None = None
    """Why some figures are null, and the remedy."""

    def figure(self, metric: str) -> int | float | None:
        """A figure by its name in the catalogue ("launches", "gaps_ns.host"); None: unknown."""
        name, _, cause = metric.partition(".")
        value: Any = getattr(self, name)
        figure: int | float | None = getattr(value, cause) if cause and value is not None else value
        return figure


@dataclass(frozen=True, slots=True)
class Stat:
    """One figure over the steps of a group.

    ``ci_low`` and ``ci_high`` bound the median (95%, bootstrap); None with fewer than two
    steps. ``n`` steps have the figure, ``unknown`` steps do not; with any unknown step the
    figure of the group is unknown too (``median`` None).
    """

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
    """Gaps of one length class, summed over the group's steps. ``below_ns`` None: no bound."""

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
    """One kernel name over the group's steps. ``share`` is of all kernel time."""

    name: str
    """Kernel name, demangled."""
    count: int
    """Runs in all steps of the group."""
    total_ns: int
    """Time of these runs, a sum."""
    median_ns: int
    """Median time of a run."""
    share: float
    """Part of all kernel time."""


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


@dataclass(frozen=True, slots=True)
class Finding:
    """One suspect or confirmed blocker of CUDA graph capture (docs/blockers.md).

    ``silent``: it does not stop a capture, but what is captured may go wrong on replay.
    """

    rule: str
    """Rule that found it (blockers.md)."""
    confidence: Literal["suspected", "likely", "confirmed", "cleared"]
    """How sure it is: a trace alone suspects, a capture attempt confirms or clears."""
    title: str
    """The finding in a line."""
    count_per_step: float
    """How often in each step."""
    stable: bool
    """Whether the count is the same in all steps."""
    bytes: int | None
    """Bytes of each copy; null where it is no copy, or where they differ."""
    kinds: str | None
    """Direction and memory kinds of a copy."""
    source: str | None
    """File and line that cause it; null without a call stack or a harness."""
    stack: tuple[str, ...]
    """Call stack, innermost first."""
    host_ns: int | None
    """Time the thread sat in these calls, each step."""
    idle_ns: int | None
    """GPU idle time they cause, each step."""
    position: str | None
    """Where in the step: kernels before and after, module range."""
    remedy: str
    """What usually helps."""
    note: str | None = None
    """What else to know."""
    phase: Phase | None = None
    """Phase of the steps it is in."""
    silent: bool = False
    """It stops no capture, but replays may go wrong."""
    copies: bool = False
    """It is a copy between host and device that holds up the host."""
    file: str | None = None
    """Name of the file that causes it."""
    lines: tuple[int, ...] = ()
    """Its lines in that file."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What one trace says: the JSON object of ``launchlens analyze --format json``."""

    schema: Literal["launchlens.analysis/1"]
    """Name and version of this layout."""
    trace: TraceInfo
    """Where the trace comes from."""
    steps: tuple[Step, ...]
    """Every step in start order; a step that used several devices has a record for each."""
    summary: tuple[Group, ...]
    """Figures over the steps of each phase, process and device."""
    skipped: int
    """Steps left out by `--skip`, all groups together."""
    notes: tuple[str, ...] = ()
    """What to know before trusting the figures, in sentences."""
    findings: tuple[Finding, ...] = ()
    """Suspected or confirmed blockers of CUDA graph capture."""
    blockers_searched: bool = False
    """Whether blockers were looked for, without which no findings say nothing."""

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
