"""One forward pass: every figure of it is a field here, an entry of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any

from launchlens.records.figures.gaps import Gaps
from launchlens.records.figures.words import BoundBy, GraphTracing, Phase
from launchlens.records.metric import Bound, Metric

_idle = partial(
    Metric,
    unit="fraction",
    better="less",
    under_spans="lower",
    lacking_operations="upper",
    adds_up=False,
    of_window=True,
)
_operations = partial(Metric, unit="count", better="less", lacking_operations="lower")
_count = partial(Metric, unit="count")
_fewer = partial(Metric, unit="count", better="less")
_time = partial(Metric, unit="ns", better="less")


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
        _fewer(
            "launches per step",
            shown="always",
            column="launches",
            calls=("kernel", "graph"),
            role="launches",
            noun="launches",
            tile=0,
        ),
    ]
    """Kernel launches + graph launches."""
    kernel_launches: Annotated[int | None, _fewer("kernel launches", calls=("kernel",))]
    """Kernel launch calls."""
    graph_launches: Annotated[int | None, _count("graph launches", shown="usual", calls=("graph",))]
    """Graph launch calls."""
    hidden_graph_launches: Annotated[
        int | None, _count("graph launches without work in the trace", lacking_launches="lower")
    ]
    """Graph launches whose work is not in the trace."""
    lost_launches: Annotated[
        int | None,
        _count("launches without a kernel in the trace", shown="usual", lacking_launches="lower"),
    ]
    """Kernel launches that succeeded and of whose work the trace has no row."""
    step_launches: Annotated[int | None, _fewer("launches, all devices", lacking_launches="lower")]
    """Launches of the step as a whole; one that ran on several devices counts once."""
    memcpy_calls: Annotated[int | None, _fewer("memcpy calls", calls=("memcpy",))]
    """Memcpy calls."""
    memset_calls: Annotated[int | None, _fewer("memset calls", calls=("memset",))]
    """Memset calls."""
    submissions: Annotated[
        int | None, _fewer("submissions", calls=("kernel", "graph", "memcpy", "memset"))
    ]
    """Launches + memcpy calls + memset calls."""
    sync_calls: Annotated[
        int | None,
        _fewer(
            "sync calls",
            shown="headline",
            calls=("sync",),
            filtered=True,
            table="api_calls",
            tile=5,
        ),
    ]
    """Synchronize calls."""
    alloc_calls: Annotated[
        int | None,
        _fewer("alloc calls", shown="usual", calls=("alloc", "stream_alloc"), filtered=True),
    ]
    """Calls that allocate, free, register or map memory."""
    captured_calls: Annotated[
        int | None, _count("captured calls", shown="usual", lacking_calls="lower")
    ]
    """Calls made while the stream was being captured, which submitted nothing."""
    failed_calls: Annotated[int | None, _fewer("failed calls", shown="usual", of_results=True)]
    """Calls that returned an error, and so submitted nothing."""
    unnamed_calls: Annotated[int | None, _count("calls without a name", shown="usual")]
    """Calls of a kind unknown, since the trace does not tell their name."""
    unlisted_launches: Annotated[
        int | None, _count("kernels launched by calls of other names", shown="usual")
    ]
    """Calls that launched a kernel, though their name is in no list of launches."""
    other_thread_submissions: Annotated[
        int | None, _count("launches and copies of other threads", lacking_calls="lower")
    ]
    """Launches, memcpy and memset calls that other threads of the process made meanwhile."""
    kernels: Annotated[
        int | None,
        _operations(
            "kernels on the GPU",
            shown="always",
            column="kernels",
            judged=False,
            role="kernels",
            table="kernels",
        ),
    ]
    """Kernels that ran; null under whole-graph tracing."""
    memcpys: Annotated[int | None, _operations("memcpys on the GPU", submitted_by="memcpy_calls")]
    """Copies that ran; null under whole-graph tracing."""
    memsets: Annotated[int | None, _operations("memsets on the GPU", submitted_by="memset_calls")]
    """Memsets that ran; null under whole-graph tracing."""
    graph_spans: Annotated[int | None, _count("graph spans")]
    """Whole-graph rows."""
    untimed_operations: Annotated[int | None, _count("operations without a time", shown="usual")]
    """Operations that ran at a time unknown."""
    window_ns: Annotated[
        int | None,
        _time(
            "step, traced",
            shown="always",
            column="step",
            speed=True,
            role="step",
            lacking_operations="lower",
            tile=3,
        ),
    ]
    """Range start to the later of range end and last own operation's end."""
    idle: Annotated[
        float | None,
        _idle(
            "GPU idle, traced",
            shown="always",
            column="idle",
            caution="node-level tracing lengthens graphs, so captured sides idle less than shown",
            caution_in="node",
            role="idle",
            noun="GPU idle",
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
        _time(
            "GPU busy",
            shown="always",
            column="busy",
            under_spans="upper",
            lacking_operations="lower",
            of_window=True,
            role="busy",
        ),
    ]
    """Time within the window in which the device ran anything."""
    kernel_busy_ns: Annotated[
        int | None,
        _time(
            "GPU busy, kernels only", under_spans="upper", lacking_operations="lower", of_gpu=True
        ),
    ]
    """Time within the window in which the device ran kernels or graph spans."""
    cpu_ns: Annotated[
        int,
        _time(
            "range on the CPU",
            stands_for="window_ns",
            speed=True,
            role="step",
            noun="range on the CPU",
        ),
    ]
    """Length of the range."""
    projected_ns: Annotated[int | None, _time("projected range", lacking_operations="lower")]
    """First own operation's start to last own operation's end."""
    lead_in_ns: Annotated[int | None, _time("lead-in", judged=False, lacking_operations="upper")]
    """Range start to first own operation's start."""
    tail_ns: Annotated[int | None, Metric("tail", "ns", lacking_operations="upper")]
    """Last own operation's end to range end; negative where the host ran ahead."""
    gaps_ns: Gaps | None
    """Idle time by cause."""
    launch_cost_ns: Annotated[
        int | None,
        Metric("launch cost, median call", "ns", adds_up=False, lacking_launches="unknown"),
    ]
    """Median duration of a launch call."""
    launch_cost_total_ns: Annotated[
        int | None, _time("launch cost, all calls", shown="headline", lacking_launches="lower")
    ]
    """Duration of all launch calls."""
    inter_launch_ns: Annotated[
        int | None, _time("inter-launch interval", adds_up=False, lacking_launches="unknown")
    ]
    """Median time from one launch call's start to the next's."""
    queue_ns: Annotated[
        int | None,
        Metric(
            "queue time, median", "ns", adds_up=False, of_clocks=True, lacking_operations="unknown"
        ),
    ]
    """Median time from the end of an operation's call to its start, 0 where it started earlier."""
    tklqt_ns: Annotated[
        int | None,
        Metric(
            "TKLQT",
            "ns",
            caution="a well-fed GPU has a large TKLQT too: read it beside idle",
            of_clocks=True,
            lacking_operations="lower",
            without_graphs="the kernels of a graph start long after its launch, by design",
        ),
    ]
    """Sum over kernels of start less launch call's start (arXiv 2504.11750); null where the step
    launches graphs.
    """
    graph_tracing: GraphTracing | None
    """How its graphs show in the trace: none, node, graph, mixed or missing."""
    bound: BoundBy | None
    """What the step is bound by."""
    unknown_reason: str | None = None
    """Why some figures are null or bounds, and the remedy."""
    bounds: dict[str, Bound] = field(default_factory=dict)
    """Figures that are bounds of the true ones, `lower` or `upper`, by name."""

    def figure(self, metric: str) -> int | float | None:
        """A figure by its name in the catalogue ("launches", "gaps_ns.host"); None: unknown."""
        name, _, cause = metric.partition(".")
        value: Any = getattr(self, name)
        figure: int | float | None = getattr(value, cause) if cause and value is not None else value
        return figure
