"""Constants of a machine from what `launchlens calibrate` measured on it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from launchlens.errors import LaunchlensError
from launchlens.forecast.constants import COSTS, Constant, Constants


@dataclass(frozen=True, slots=True)
class Line:
    """A cost that grows with the size: so much for each, and so much whatever the size."""

    each_ns: Constant
    fixed_ns: Constant


@dataclass(frozen=True, slots=True)
class TracedLaunches:
    """What a trace of launches one by one shows."""

    kernel_ns: float
    """Median time of a kernel."""
    calls: int
    """Calls of the CUDA API in a step."""
    step_ns: Sequence[int]
    """What the thread took for each step."""
    launches: int
    """Launches in a step."""


@dataclass(frozen=True, slots=True)
class Where:
    """The machine."""

    gpu: str
    driver: str | None
    cuda: str | None
    cpu: str | None
    recorder: str
    format: str
    day: str


def fit_line(samples: Mapping[int, Sequence[int]]) -> Line:
    """The line through the medians at each size, and how far it may be off.

    Raises:
        LaunchlensError: fewer than two sizes.
    """
    sizes = sorted(samples)
    if len(sizes) < 2:
        raise LaunchlensError("A cost was measured at fewer than two sizes.")
    medians = np.array([statistics.median(samples[size]) for size in sizes])
    weights = 1 / np.maximum(medians, 1.0)
    each, fixed = np.polyfit(sizes, medians, 1, w=weights)
    pairs = [
        (b - a) / (larger - size)
        for size, larger, a, b in zip(sizes, sizes[1:], medians, medians[1:], strict=False)
    ]
    spread = statistics.pstdev(pairs) if len(pairs) > 1 else 0.0
    away = float(np.abs(each * np.array(sizes) + fixed - medians).max())
    return Line(Constant(float(each), spread), Constant(max(float(fixed), 0.0), away))


def calibrated(
    costs: Mapping[str, Mapping[int, Sequence[int]]],
    traced: TracedLaunches,
    piece: int,
    where: Where,
    shipped: Constants,
) -> tuple[Constants, tuple[str, ...]]:
    """The constants of a machine, and which were not measured and so stay as shipped.

    Args:
        costs: samples in ns by kind of measurement and size (`launchlens.harness.calibration`).
        traced: launches one by one, under a profiler.
        piece: nodes of each graph of the broken one.
        where: the machine.
        shipped: what stands in for what was not measured.

    Raises:
        LaunchlensError: a kind of measurement is missing.
    """
    needed = ("launches, GPU", "launches, CPU", "graph, GPU", "graph, CPU", "broken graph, GPU")
    if missing := [kind for kind in needed if kind not in costs]:
        raise LaunchlensError(f"Not measured: {', '.join(missing)}.")
    lines = {kind: fit_line(samples) for kind, samples in costs.items()}
    node = lines["graph, GPU"].each_ns
    gap = Constant(max(node.value - traced.kernel_ns, 0.0), node.spread)
    queued = lines["launches, GPU"].each_ns
    delay = Constant(max(queued.value - traced.kernel_ns, 0.0), queued.spread)
    broken = lines["broken graph, GPU"].each_ns
    # A turn: a graph's nodes with the pauses between them, a kernel, and both ways across.
    inside = piece * traced.kernel_ns + (piece - 1) * gap.value + traced.kernel_ns
    across = max(broken.value - inside, 0.0)
    enters = shipped.enter_graph_ns.value
    part = enters / (enters + shipped.leave_graph_ns.value)
    untraced = lines["launches, CPU"].each_ns.value * traced.launches
    slower = [max(ns - untraced, 0.0) / traced.calls for ns in traced.step_ns]
    found = {
        "node_gap_ns": gap,
        "delay_ns": delay,
        "enter_graph_ns": Constant(part * across, broken.spread),
        "leave_graph_ns": Constant((1 - part) * across, broken.spread),
        "graph_launch_ns": lines["graph, CPU"].fixed_ns,
        "graph_launch_node_ns": lines["graph, CPU"].each_ns,
        "tracing_ns": Constant(statistics.median(slower), shipped.tracing_ns.spread),
    }
    if "graph with memsets, GPU" in lines:
        pair = lines["graph with memsets, GPU"].each_ns
        memset = pair.value - node.value
        found["memset_gap_ns"] = Constant(max(memset, 0.0), pair.spread)
    kept = tuple(name for name in COSTS if name not in found)
    made = replace(
        shipped,
        gpu=where.gpu,
        driver=where.driver,
        cuda=where.cuda,
        cpu=where.cpu,
        recorder=where.recorder,
        format=where.format,
        measured=where.day,
        evidence="launchlens calibrate",
        source="measured",
        **found,  # type: ignore[arg-type]
    )
    return made, kept


def as_file(constants: Constants) -> dict[str, object]:
    """The constants in the layout of their file (`launchlens.forecast.constants.parse`)."""
    written = asdict(constants)
    return {k: v for k, v in written.items() if k not in ("source", "foreign", "other_recorder")}
