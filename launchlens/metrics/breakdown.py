"""Tables over a group of steps: kernels, API calls, gap lengths, what the GPU idles after."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from launchlens.calls import base_name
from launchlens.calls.step_calls import Slices
from launchlens.intervals import batches
from launchlens.metrics.idle import GapKind, GapTable
from launchlens.metrics.measure import MeasuredSteps
from launchlens.metrics.statistics import grouped_medians
from launchlens.metrics.step_ops import count_kind
from launchlens.records.columns import BoolColumn, IdColumn, IntColumn, OpKind, SmallColumn, Trace
from launchlens.records.figures import ApiRow, FollowerRow, GapBin, KernelRow
from launchlens.records.metric import Bound

GAP_EDGES_NS = (2_000, 5_000, 10_000, 50_000, 500_000)
"""Classes of gap length: below 2, 2-5, 5-10, 10-50, 50-500 µs, longer."""

OP_NAMES = {OpKind.MEMCPY: "[memcpy]", OpKind.MEMSET: "[memset]", OpKind.GRAPH: "[CUDA graph]"}


def kernel_table(
    trace: Trace, measured: MeasuredSteps, rows: IntColumn, bound: Bound | None
) -> tuple[KernelRow, ...]:
    """Kernels that the rows' steps own, by name, longest total first.

    ``bound`` is "lower" where not all of them are in the trace.
    """
    slices = measured.owned.ops.take(rows)

    def chunks() -> Iterator[tuple[SmallColumn, IntColumn]]:
        for piece in _pieces(slices):
            ops = measured.owned.order[piece]
            ops = ops[trace.ops.kind[ops] == OpKind.KERNEL]
            yield trace.ops.name[ops], trace.ops.end_ns[ops] - trace.ops.start_ns[ops]

    kernels = int(count_kind(trace, measured.owned, OpKind.KERNEL, timed=True)[rows].sum())
    count, total, median = grouped_medians(chunks(), kernels, len(trace.strings))
    whole = int(total.sum()) or 1  # kernels of no duration have no share
    untimed = measured.owned.untimed_order[measured.owned.untimed.take(rows).expand()[0]]
    untimed = untimed[trace.untimed.kind[untimed] == OpKind.KERNEL]
    more = np.bincount(trace.untimed.name[untimed], minlength=count.size)
    known = bound is None and untimed.size == 0
    return tuple(
        KernelRow(
            trace.strings[i],
            int(count[i] + more[i]),
            int(total[i]),
            int(median[i]) if count[i] else None,
            float(total[i] / whole) if known else None,
            bound,
            "lower" if more[i] else bound,
        )
        for i in _ranked(count + more, total)
    )


def api_table(
    trace: Trace, measured: MeasuredSteps, rows: IntColumn, bound: Bound | None
) -> tuple[ApiRow, ...]:
    """CUDA API calls that the rows' steps own, by base name, longest total first.

    ``bound`` is "lower" where not all of them are in the trace, or not by their names.
    """
    slices, api = measured.owned.calls.take(rows), trace.api
    bases = list(dict.fromkeys(base_name(n) for n in api.names))
    place = {base: code for code, base in enumerate(bases)}
    code_of = np.array([place[base_name(n)] for n in api.names] or [0], np.int32)

    def chunks() -> Iterator[tuple[SmallColumn, IntColumn]]:
        for piece in _pieces(slices):
            yield code_of[api.name[piece]], api.end_ns[piece] - api.start_ns[piece]

    calls = int(slices.count.sum())
    count, total, median = grouped_medians(chunks(), calls, max(len(bases), 1))
    return tuple(
        ApiRow(bases[i], int(count[i]), int(total[i]), int(median[i]), bound)
        for i in _ranked(count, total)
    )


def _ranked(count: IntColumn, total: IntColumn) -> list[int]:
    """Codes that occur: the largest total first, then the most frequent."""
    order = np.lexsort((np.arange(count.size), -count, -total))
    return [i for i in order.tolist() if count[i]]


def gap_histogram(gaps: GapTable, chosen: BoolColumn) -> tuple[GapBin, ...]:
    """Count and time of the chosen gaps by length (`GAP_EDGES_NS`)."""
    length = gaps.length_ns[chosen]
    code = np.searchsorted(np.array(GAP_EDGES_NS), length, side="right")
    classes = len(GAP_EDGES_NS) + 1
    count = np.bincount(code, minlength=classes).tolist()
    total = np.bincount(code, length, classes).astype(np.int64).tolist()
    return tuple(map(GapBin, (0, *GAP_EDGES_NS), (*GAP_EDGES_NS, None), count, total))


def gap_followers(
    trace: Trace, measured: MeasuredSteps, rows: IntColumn, chosen: BoolColumn, ends: EndOrder
) -> tuple[FollowerRow, ...]:
    """What ran right before the GPU fell idle, by name, longest idle first.

    Gaps before a step's first own operation follow no work of the step and are left out.
    """
    gaps = measured.device_time.gaps
    picked = np.flatnonzero(chosen & (gaps.kind != GapKind.LEAD_IN))
    labels = [*trace.strings, *OP_NAMES.values()]
    # A group's rows share one device; a gap follows what ran on its GPU.
    gpu = trace.devices[int(measured.owned.device[rows[0]])].gpu if picked.size else 0
    count, idle, ran = (np.zeros(len(labels), np.int64) for _ in range(3))
    for first, last in batches(np.ones(picked.size, np.int64)):
        part = picked[first:last]
        before = ends.ending_at(gaps.start_ns[part], gpu)
        found = before >= 0
        code = _name_codes(trace, before[found])
        length = (gaps.end_ns[part] - gaps.start_ns[part])[found]
        count += np.bincount(code, minlength=len(labels))
        idle += np.bincount(code, length, len(labels)).astype(np.int64)
    for piece in _pieces(measured.owned.ops.take(rows)):
        code = _name_codes(trace, measured.owned.order[piece])
        ran += np.bincount(code, minlength=len(labels))
    return tuple(
        FollowerRow(labels[i], int(count[i]), int(idle[i]), int(ran[i]))
        for i in _ranked(count, idle)
    )


def _pieces(slices: Slices) -> Iterator[slice | IntColumn]:
    """All indexes of the slices, many short ones at a time, to save time and bound memory."""
    for first, last in batches(slices.count):
        if last - first == 1:
            yield slice(int(slices.low[first]), int(slices.high[first]))
        elif last > first:
            yield slices.take(np.arange(first, last)).expand()[0]


def _name_codes(trace: Trace, ops: IdColumn) -> IntColumn:
    """Index of each operation's name among the kernels' names and `OP_NAMES`."""
    of_kind = np.array([0, *(len(trace.strings) + i for i in range(len(OP_NAMES)))])
    kind = trace.ops.kind[ops]
    code = np.where(kind == OpKind.KERNEL, trace.ops.name[ops], of_kind[kind])
    return np.maximum(code, 0).astype(np.int64)


class EndOrder:
    """Finds the operation that ends at an instant on a GPU; one sort for each GPU of a trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._made: dict[int, tuple[SmallColumn, IntColumn]] = {}

    def ending_at(self, instants_ns: IntColumn, gpu: int) -> IntColumn:
        """Row of an operation that ends at each instant on this GPU, -1 where none does."""
        if gpu not in self._made:
            self._made[gpu] = self._sorted(gpu)
        order, ends = self._made[gpu]
        if ends.size == 0:
            return np.full(instants_ns.size, -1, np.int64)
        at = np.clip(np.searchsorted(ends, instants_ns), 0, ends.size - 1)
        return np.where(ends[at] == instants_ns, order[at], -1)

    def _sorted(self, gpu: int) -> tuple[SmallColumn, IntColumn]:
        ops = self._trace.ops
        order = np.argsort(ops.end_ns, kind="stable").astype(np.int32)
        gpu_of = np.array([d.gpu for d in self._trace.devices], np.int64)
        if (gpu_of != gpu).any():
            order = order[gpu_of[ops.device[order]] == gpu]
        return order, ops.end_ns[order]
