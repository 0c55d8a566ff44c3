"""One forward pass: every figure of it is a field here, an entry of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from launchlens.records.figures.words import BoundBy, GraphTracing, Phase
from launchlens.records.metric import Metric

_gap = partial(Metric, unit="ns", better="less", of_window=True)
_main_gap = partial(_gap, shown="headline")
_idle = partial(
    Metric, unit="fraction", better="less", under_spans="lower", adds_up=False, of_window=True
)


@dataclass(frozen=True, slots=True)
class Gaps:
    """Idle time of a window by cause; the causes sum to the idle time exactly."""

    lead_in: Annotated[
        int,
        _gap(
            "idle in the lead-in",
            cause="in the lead-in",
            legend="before the step's first operation",
        ),
    ]
    """Idle before the step's first own operation."""
    host: Annotated[
        int,
        _main_gap(
            "idle waiting for the host", cause="for the host", legend="the CPU was busy elsewhere"
        ),
    ]
    """Idle while the CPU was busy elsewhere, before the call that ends the gap."""
    launch: Annotated[
        int,
        _main_gap(
            "idle during launches", cause="for launches", legend="latency of the launch itself"
        ),
    ]
    """Idle from that call's start on: the launch's own latency."""
    sync: Annotated[
        int,
        _main_gap(
            "idle in synchronization",
            cause="in synchronization",
            legend="inside a synchronize call or a blocking copy",
        ),
    ]
    """Idle while the step's thread was inside a synchronize call or a blocking copy."""
    device: Annotated[
        int,
        _gap(
            "idle on the device",
            shown="headline",
            under_spans="lower",
            cause="between operations on the device",
            legend="submitted in time, the GPU was not ready",
        ),
    ]
    """Idle although the next operation was submitted in time."""
    tail: Annotated[int, _gap("idle in the tail", legend="after the device's last operation")]
    """Idle after the device's last operation in the window."""
    unlinked: Annotated[int, _gap("idle, unlinked", legend="no API call recorded")]
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
        _idle(
            "GPU idle, traced",
            shown="headline",
            always=True,
            caution="node-level tracing lengthens graphs, so captured sides idle less than shown",
            caution_in="node",
            tile=1,
        ),
    ]
    """1 − busy_ns / window_ns."""
    idle_kernels_only: Annotated[float | None, _idle("GPU idle, kernels only")]
    """1 − kernel_busy_ns / window_ns."""
    idle_projected: Annotated[float | None, _idle("GPU idle, projected range")]
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
