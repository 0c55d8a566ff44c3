"""Every figure of every step of a trace: from columns to `Step` records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from launchlens.calls import CallKind
from launchlens.calls.classing import Calls, class_calls
from launchlens.calls.ownership import Slices, calls_of
from launchlens.metrics.bound import bound_of
from launchlens.metrics.idle import DeviceTime, Windows, measure_windows
from launchlens.metrics.ownership import Owned, count_kind, own, own_extent
from launchlens.metrics.placement import Unplaced
from launchlens.metrics.reasons import unknown_reason
from launchlens.metrics.statistics import segment_medians
from launchlens.metrics.steps import StepRange
from launchlens.records.columns import IntColumn, OpKind, SmallColumn, Trace
from launchlens.records.figures import Gaps, GraphTracing, Step


@dataclass(frozen=True, slots=True)
class Measured:
    """Steps of a trace with everything that later tables are drawn from.

    ``steps[i]`` belongs to row ``i`` of ``owned``; ``windowed`` lists the rows that have a
    window, in the order of ``device_time``'s rows.
    """

    steps: tuple[Step, ...]
    owned: Owned
    calls: Calls
    windowed: IntColumn
    device_time: DeviceTime


@dataclass(slots=True)
class _Counts:
    """Host calls of each row by kind, and operations without a device; shapes (rows,)."""

    kernel: IntColumn
    graph: IntColumn
    memcpy: IntColumn
    memset: IntColumn
    sync: IntColumn
    alloc: IntColumn
    captured: IntColumn
    hidden: IntColumn
    node: IntColumn
    span: IntColumn
    unplaced: IntColumn


def measure_steps(trace: Trace, ranges: Sequence[StepRange]) -> Measured:
    """All figures of all steps (docs/definitions.md), one `Step` for each (step, device)."""
    calls = class_calls(trace.api, trace.ops)
    starts = np.array([r.start_ns for r in ranges], np.int64)
    ends = np.array([r.end_ns for r in ranges], np.int64)
    threads = np.array([r.thread for r in ranges], np.int64)
    slices, unplaced = calls_of(trace.api, threads, starts, ends), Unplaced(trace)
    hidden = np.flatnonzero(calls.hidden)
    owned = own(trace, slices, (slices.within(hidden).count > 0) | (unplaced.count(slices) > 0))
    counts = _count_calls(trace, calls, owned, unplaced)
    first, last = own_extent(trace, owned)
    start, end = starts[owned.step], ends[owned.step]
    gpu = np.array([d.gpu for d in trace.devices] or [0], np.int64)[owned.device]
    lost = (counts.kernel > 0) & (count_kind(trace, owned, OpKind.KERNEL) == 0)
    beside = unplaced.beside(gpu, start, np.maximum(end, last))
    windowed = np.flatnonzero((owned.ops.count > 0) & ~lost & ~beside)
    windows = Windows(
        start[windowed],
        np.maximum(end, last)[windowed],
        gpu[windowed],
        first[windowed],
        threads[owned.step[windowed]],
    )
    device_time = measure_windows(trace, calls, windows, last[windowed])
    columns = _columns(trace, calls, owned, counts)
    columns |= _device_columns(windows, windowed, device_time, last[windowed], end[windowed])
    records = _records(trace, ranges, owned, counts, columns)
    return Measured(tuple(records), owned, calls, windowed, device_time)


def _count_calls(trace: Trace, calls: Calls, owned: Owned, unplaced: Unplaced) -> _Counts:
    kind, captured = calls.kind, calls.captured

    def count(wanted: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> IntColumn:
        positions = np.flatnonzero(wanted)
        number = owned.calls.within(positions).count
        return _by_device(trace, owned, positions, number) if owned.is_split.any() else number

    graph = (kind == CallKind.GRAPH) & ~captured
    return _Counts(
        kernel=count((kind == CallKind.KERNEL) & ~captured),
        graph=count(graph),
        memcpy=count((kind == CallKind.MEMCPY) & ~captured),
        memset=count((kind == CallKind.MEMSET) & ~captured),
        sync=count(kind == CallKind.SYNC),
        alloc=count((kind == CallKind.ALLOC) | (kind == CallKind.STREAM_ALLOC)),
        captured=count(captured),
        hidden=count(calls.hidden),
        node=count(graph & calls.has_op),
        span=count(graph & calls.has_span),
        unplaced=unplaced.count(owned.calls),
    )


def _by_device(trace: Trace, owned: Owned, positions: IntColumn, number: IntColumn) -> IntColumn:
    """Counts of steps that use several devices: a call counts where its operation ran.

    Calls without an operation (synchronize) count at the primary device.
    """
    devices = _device_of_call(trace)[positions]
    slices, number = owned.calls.within(positions), number.copy()
    for row in np.flatnonzero(owned.is_split).tolist():
        number[row] = int(_here(owned, row, devices[slices.low[row] : slices.high[row]]).sum())
    return number


def _device_of_call(trace: Trace) -> SmallColumn:
    """Device on which each API call's operation ran, -1 without one."""
    device = np.full(trace.api.start_ns.size, -1, np.int32)
    linked = np.flatnonzero(trace.ops.api_row >= 0)
    device[trace.ops.api_row[linked]] = trace.ops.device[linked]
    return device


def _here(
    owned: Owned, row: int, devices: SmallColumn
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which calls of a step, given their devices, count at a row's device."""
    here: np.ndarray[tuple[int], np.dtype[np.bool_]] = devices == owned.device[row]
    return here | (devices < 0) if owned.is_primary[row] else here


def _columns(
    trace: Trace, calls: Calls, owned: Owned, counts: _Counts
) -> dict[str, list[int | None]]:
    """Launch-side figures of each row: cost, interval, queue time, TKLQT."""
    return {
        **_launch_columns(trace, calls, owned, (counts.kernel + counts.graph).tolist()),
        "queue_ns": _queue_times(trace, owned),
        "tklqt_ns": _tklqt(trace, owned),
        "kernels": count_kind(trace, owned, OpKind.KERNEL).tolist(),
        "memcpys": count_kind(trace, owned, OpKind.MEMCPY).tolist(),
        "memsets": count_kind(trace, owned, OpKind.MEMSET).tolist(),
        "graph_spans": count_kind(trace, owned, OpKind.GRAPH).tolist(),
    }


def _launch_columns(
    trace: Trace, calls: Calls, owned: Owned, launches: list[int]
) -> dict[str, list[int | None]]:
    """Cost of the launch calls, by device as they count, and the interval between successive ones.

    The interval is the thread's, whichever devices it launches on.
    """
    api = trace.api
    launch = np.flatnonzero(
        ((calls.kind == CallKind.KERNEL) | (calls.kind == CallKind.GRAPH)) & ~calls.captured
    )
    slices = owned.calls.within(launch)
    between = Slices(slices.low, np.maximum(slices.high - 1, slices.low))
    interval = segment_medians(np.diff(api.start_ns[launch], append=0), between)
    cost = api.end_ns[launch] - api.start_ns[launch]
    median = segment_medians(cost, slices)
    running = np.concatenate([[0], np.cumsum(cost)])
    totals = (running[slices.high] - running[slices.low]).tolist()
    if owned.is_split.any():
        devices = _device_of_call(trace)[launch]
        for row in np.flatnonzero(owned.is_split).tolist():
            part = slice(slices.low[row], slices.high[row])
            mine = cost[part][_here(owned, row, devices[part])]
            totals[row] = int(mine.sum())
            median[row] = int(np.median(mine)) if mine.size else None
    return {
        "launch_cost_ns": median,
        "launch_cost_total_ns": [t if n else None for t, n in zip(totals, launches, strict=True)],
        "inter_launch_ns": interval,
    }


def _queue_times(trace: Trace, owned: Owned) -> list[int | None]:
    """Median time between the end of a call and the start of its operation (0 if earlier)."""
    call = trace.ops.api_row[owned.order]
    queued = trace.ops.start_ns[owned.order] - trace.api.end_ns[call]
    return segment_medians(np.maximum(queued, 0, out=queued), owned.ops)


def _tklqt(trace: Trace, owned: Owned) -> list[int | None]:
    """Total kernel launch and queuing time (arXiv 2504.11750): sum of start to kernel start."""
    kernels = np.flatnonzero(trace.ops.kind[owned.order] == OpKind.KERNEL)
    rows = owned.order[kernels]
    waits = trace.ops.start_ns[rows] - trace.api.start_ns[trace.ops.api_row[rows]]
    total = np.concatenate([[0], np.cumsum(waits)])
    slices = owned.ops.within(kernels)
    values: list[int | None] = (total[slices.high] - total[slices.low]).tolist()
    return values


def _device_columns(
    windows: Windows,
    windowed: IntColumn,
    time: DeviceTime,
    last_own: IntColumn,
    range_end: IntColumn,
) -> dict[str, list[int | None]]:
    """Device-side figures, spread from the windowed rows to all rows (None elsewhere)."""
    causes = time.gaps.by_cause(windowed.size)
    values = {
        "window_ns": windows.end_ns - windows.start_ns,
        "projected_ns": last_own - windows.first_own_ns,
        "busy_ns": time.busy_ns,
        "kernel_busy_ns": time.kernel_busy_ns,
        "projected_busy_ns": time.projected_busy_ns,
        "lead_in_ns": windows.first_own_ns - windows.start_ns,
        "tail_ns": range_end - last_own,
    } | {f"gap_{cause}": total for cause, total in causes.items()}
    size = int(windowed.max()) + 1 if windowed.size else 0
    spread: dict[str, list[int | None]] = {}
    for name, column in values.items():
        full: list[int | None] = [None] * size
        for row, value in zip(windowed.tolist(), column.tolist(), strict=True):
            full[row] = value
        spread[name] = full
    return spread


def graph_tracing_of(graphs: int, hidden: int, nodes: int, spans: int) -> GraphTracing:
    """How the graphs of a step show in the trace (docs/definitions.md)."""
    if graphs == 0:
        return "none"
    if hidden:
        return "missing"
    if nodes and spans:
        return "mixed"
    return "graph" if spans else "node"


def _records(
    trace: Trace,
    ranges: Sequence[StepRange],
    owned: Owned,
    counts: _Counts,
    columns: dict[str, list[int | None]],
) -> list[Step]:
    per_row = {f.name: getattr(counts, f.name).tolist() for f in fields(_Counts)}
    records = []
    for row, index in enumerate(owned.step.tolist()):
        values = {k: (v[row] if row < len(v) else None) for k, v in columns.items()}
        host = {name: column[row] for name, column in per_row.items()}
        records.append(_record(trace, ranges[index], index, int(owned.device[row]), host, values))
    return records


def _record(
    trace: Trace,
    source: StepRange,
    index: int,
    device: int,
    host: dict[str, int],
    values: dict[str, int | None],
) -> Step:
    tracing = graph_tracing_of(host["graph"], host["hidden"], host["node"], host["span"])
    launches = host["kernel"] + host["graph"]
    window, busy = values["window_ns"], values["busy_ns"]
    lost = host["kernel"] > 0 and values["kernels"] == 0
    reason = unknown_reason(
        trace, tracing, host, has_device=device >= 0, lost=lost, has_window=window is not None
    )
    known = trace.has_api
    countable = known and tracing in ("none", "node") and (device >= 0 or launches == 0)
    countable &= not lost
    gaps = None
    if window is not None:
        gaps = Gaps(*(values[f"gap_{f.name}"] or 0 for f in fields(Gaps)))

    def host_count(value: int) -> int | None:
        return value if known else None

    def op_count(name: str) -> int | None:
        return values[name] if countable else None

    submissions = launches + host["memcpy"] + host["memset"]
    idle = _share(busy, window)
    return Step(
        index=index,
        range=source.text,
        domain=source.domain,
        engine=source.engine,
        phase=source.phase,
        pid=trace.processes[source.process].pid,
        tid=trace.threads[source.thread].tid,
        device=trace.devices[device].device_id if device >= 0 else None,
        start_ns=source.start_ns,
        end_ns=source.end_ns,
        tokens=source.tokens,
        kernel_launches=host_count(host["kernel"]),
        graph_launches=host_count(host["graph"]),
        launches=host_count(launches),
        memcpy_calls=host_count(host["memcpy"]),
        memset_calls=host_count(host["memset"]),
        submissions=host_count(submissions),
        sync_calls=host_count(host["sync"]),
        alloc_calls=host_count(host["alloc"]),
        captured_calls=host_count(host["captured"]),
        kernels=op_count("kernels"),
        memcpys=op_count("memcpys"),
        memsets=op_count("memsets"),
        graph_spans=(values["graph_spans"] if device >= 0 else host["span"]) if known else None,
        graph_tracing=tracing if known else None,
        hidden_graph_launches=host_count(host["hidden"]),
        cpu_ns=source.end_ns - source.start_ns,
        projected_ns=values["projected_ns"],
        window_ns=window,
        busy_ns=busy,
        kernel_busy_ns=values["kernel_busy_ns"],
        idle=idle,
        idle_kernels_only=_share(values["kernel_busy_ns"], window),
        idle_projected=_share(values["projected_busy_ns"], values["projected_ns"]),
        gaps_ns=gaps,
        lead_in_ns=values["lead_in_ns"],
        tail_ns=values["tail_ns"],
        launch_cost_ns=values["launch_cost_ns"],
        launch_cost_total_ns=values["launch_cost_total_ns"],
        inter_launch_ns=values["inter_launch_ns"],
        queue_ns=values["queue_ns"] if window is not None else None,
        tklqt_ns=values["tklqt_ns"] if countable and window is not None else None,
        bound=bound_of(idle, gaps, at_least=tracing in ("graph", "mixed")),
        unknown_reason=reason,
    )


def _share(busy: int | None, length: int | None) -> float | None:
    """Idle fraction; None where either is unknown or the window is empty."""
    if busy is None or not length:
        return None
    return 1 - busy / length
