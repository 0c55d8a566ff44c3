"""Which metrics are compared, and the smallest differences that matter."""

from __future__ import annotations

from dataclasses import dataclass

SMALLEST_RELATIVE = 0.02
"""Smallest difference of a time, a rate or a size that matters: 2% of the baseline."""

SMALLEST_IDLE = 0.01
"""Smallest difference of an idle fraction that matters: one percentage point."""

SMALLEST_COUNT = 0.5
"""Smallest difference of a count that matters: anything from one up."""

BETWEEN_PROCESSES = 0.2
"""Change of a launch-bound step's untraced time that one process on a side cannot show.

Three processes of one H200, eager Gemma 3n E4B unchanged: 72.7, 75.8 and 79.5 ms, each with a 95%
interval of 1 to 2 ms. Other runs of it that day gave 66.3 and 70.3 ms.
"""


@dataclass(frozen=True, slots=True)
class Metric:
    """How a metric is compared and named. ``direction`` -1: less is better, 0: neither."""

    name: str
    title: str
    unit: str
    direction: int
    headline: bool = False
    timed: bool = False  # a time that whole-graph tracing gives with less inflation


METRICS: tuple[Metric, ...] = (
    Metric("launches", "launches per step", "count", -1, headline=True),
    Metric("kernel_launches", "kernel launches", "count", -1),
    Metric("graph_launches", "graph launches", "count", 0),
    Metric("memcpy_calls", "memcpy calls", "count", -1),
    Metric("memset_calls", "memset calls", "count", -1),
    Metric("submissions", "submissions", "count", -1),
    Metric("sync_calls", "sync calls", "count", -1, headline=True),
    Metric("alloc_calls", "alloc calls", "count", -1),
    Metric("captured_calls", "captured calls", "count", 0),
    Metric("kernels", "kernels on the GPU", "count", -1, headline=True),
    Metric("memcpys", "memcpys on the GPU", "count", -1),
    Metric("memsets", "memsets on the GPU", "count", -1),
    Metric("graph_spans", "graph spans", "count", 0),
    Metric("untraced_ns", "step, untraced", "ns", -1, headline=True),
    Metric("window_ns", "step, traced", "ns", -1, headline=True, timed=True),
    Metric("inflation", "inflation by tracing", "fraction", 0, headline=True),
    Metric("idle", "GPU idle, traced", "fraction", -1, headline=True),
    Metric("idle_corrected", "GPU idle, corrected", "fraction", -1, headline=True),
    Metric("idle_kernels_only", "GPU idle, kernels only", "fraction", -1),
    Metric("idle_projected", "GPU idle, projected range", "fraction", -1),
    Metric("busy_ns", "GPU busy", "ns", -1, headline=True),
    Metric("cpu_ns", "range on the CPU", "ns", -1),
    Metric("projected_ns", "projected range", "ns", -1),
    Metric("lead_in_ns", "lead-in", "ns", -1),
    Metric("tail_ns", "tail", "ns", 0),
    Metric("gaps_ns.lead_in", "idle in the lead-in", "ns", -1),
    Metric("gaps_ns.host", "idle waiting for the host", "ns", -1, headline=True),
    Metric("gaps_ns.launch", "idle during launches", "ns", -1, headline=True),
    Metric("gaps_ns.sync", "idle in synchronization", "ns", -1, headline=True),
    Metric("gaps_ns.device", "idle on the device", "ns", -1, headline=True),
    Metric("gaps_ns.tail", "idle in the tail", "ns", -1),
    Metric("gaps_ns.unlinked", "idle, unlinked", "ns", -1),
    Metric("launch_cost_ns", "launch cost, median call", "ns", 0),
    Metric("launch_cost_total_ns", "launch cost, all calls", "ns", -1, headline=True),
    Metric("inter_launch_ns", "inter-launch interval", "ns", -1),
    Metric("queue_ns", "queue time, median", "ns", 0),
    Metric("tklqt_ns", "TKLQT", "ns", 0),
    Metric("peak_memory_bytes", "peak GPU memory", "bytes", -1, headline=True),
    Metric("graph_memory_bytes", "graph memory", "bytes", -1, headline=True),
    Metric("capture_ns", "capture time", "ns", 0, headline=True),
)

BY_NAME = {metric.name: metric for metric in METRICS}
