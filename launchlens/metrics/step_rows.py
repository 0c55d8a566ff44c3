"""What figures of steps are computed from: calls, owned operations, windows, made once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from launchlens.calls import CallKind
from launchlens.calls.classing import class_calls
from launchlens.calls.step_calls import calls_of
from launchlens.metrics.figures import Column
from launchlens.metrics.idle import Windows, measure_windows
from launchlens.metrics.placement import Unplaced
from launchlens.metrics.step_ops import count_kind, own, own_extent
from launchlens.metrics.steps import StepRange
from launchlens.records.columns import IntColumn, OpKind, SmallColumn, Trace
from launchlens.records.figures import GraphTracing

Mask = npt.NDArray[np.bool_]


class StepRows:
    """Rows of a trace: one for each (step, device), with what all figures need.

    ``windowed`` lists the rows that have a window, in the order of ``windows`` and ``device_time``;
    ``last_own_ns`` (end of the last own operation) and ``range_end_ns`` are theirs.
    """

    def __init__(self, trace: Trace, ranges: Sequence[StepRange]) -> None:
        self.trace, self.ranges = trace, ranges
        self.calls = class_calls(trace.api, trace.ops)
        self._counted: dict[CallKind, IntColumn] = {}
        starts = np.array([r.start_ns for r in ranges], np.int64)
        ends = np.array([r.end_ns for r in ranges], np.int64)
        threads = np.array([r.thread for r in ranges], np.int64)
        slices, unplaced = calls_of(trace.api, threads, starts, ends), Unplaced(trace)
        hidden = slices.within(np.flatnonzero(self.calls.hidden)).count
        self.owned = own(trace, slices, (hidden > 0) | (unplaced.count(slices) > 0))
        self.unplaced = unplaced.count(self.owned.calls)
        first, last = own_extent(trace, self.owned)
        start, end = starts[self.owned.step], ends[self.owned.step]
        gpu = np.array([d.gpu for d in trace.devices] or [0], np.int64)[self.owned.device]
        beside = unplaced.beside(gpu, start, np.maximum(end, last))
        self.windowed = np.flatnonzero((self.owned.ops.count > 0) & ~self.lost & ~beside)
        self.windows = Windows(
            start[self.windowed],
            np.maximum(end, last)[self.windowed],
            gpu[self.windowed],
            first[self.windowed],
            threads[self.owned.step[self.windowed]],
        )
        self.last_own_ns, self.range_end_ns = last[self.windowed], end[self.windowed]
        self.device_time = measure_windows(trace, self.calls, self.windows, self.last_own_ns)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.owned.step.size)

    # Host side ---------------------------------------------------------------------------------

    def of_kind(self, kind: CallKind) -> Mask:
        """Calls of a kind as they count; captured ones submit nothing and do not."""
        wanted: Mask = self.calls.kind == kind
        wanted &= ~self.calls.captured
        return wanted

    def count_kinds(self, *kinds: CallKind) -> IntColumn:
        """How many calls of these kinds each row has (`of_kind`, `count`)."""
        for kind in kinds:
            if kind not in self._counted:
                self._counted[kind] = self.count(self.of_kind(kind))
        total: IntColumn = np.sum([self._counted[kind] for kind in kinds], axis=0, dtype=np.int64)
        return total

    def count(self, wanted: Mask) -> IntColumn:
        """How many of these calls each row has; of a step on several devices, where they ran."""
        positions = np.flatnonzero(wanted)
        slices = self.owned.calls.within(positions)
        number = slices.count
        if self.owned.is_split.any():
            devices, number = self.device_of_call[positions], number.copy()
            for row in np.flatnonzero(self.owned.is_split).tolist():
                part = slice(slices.low[row], slices.high[row])
                number[row] = int(self.here(row, devices[part]).sum())
        return number

    @cached_property
    def kernel_launches(self) -> IntColumn:
        """Kernel launch calls of each row."""
        return self.count_kinds(CallKind.KERNEL)

    @cached_property
    def graph_launches(self) -> IntColumn:
        """Graph launch calls of each row."""
        return self.count_kinds(CallKind.GRAPH)

    @cached_property
    def hidden(self) -> IntColumn:
        """Graph launches of each row whose work is not in the trace."""
        return self.count(self.calls.hidden)

    @cached_property
    def spans(self) -> IntColumn:
        """Graph launches of each row that have a whole-graph row."""
        return self.count(self.of_kind(CallKind.GRAPH) & self.calls.has_span)

    @cached_property
    def device_of_call(self) -> SmallColumn:
        """Device on which each API call's operation ran, -1 without one; shape (calls,)."""
        ops = self.trace.ops
        device = np.full(self.trace.api.start_ns.size, -1, np.int32)
        linked = np.flatnonzero(ops.api_row >= 0)
        device[ops.api_row[linked]] = ops.device[linked]
        return device

    def here(self, row: int, devices: SmallColumn) -> Mask:
        """Which calls of a step, given their devices, count at a row's device.

        Calls without an operation (synchronize) count at the primary device.
        """
        here: Mask = devices == self.owned.device[row]
        return here | (devices < 0) if self.owned.is_primary[row] else here

    # What is known -----------------------------------------------------------------------------

    @cached_property
    def lost(self) -> Mask:
        """Rows with kernel launches none of which has a kernel row."""
        kernels = count_kind(self.trace, self.owned, OpKind.KERNEL)
        lost: Mask = (self.kernel_launches > 0) & (kernels == 0)
        return lost

    @cached_property
    def graph_tracing(self) -> list[GraphTracing]:
        """How the graphs of each row show in the trace (docs/definitions.md)."""
        nodes = self.count(self.of_kind(CallKind.GRAPH) & self.calls.has_op)
        columns = (self.graph_launches, self.hidden, nodes, self.spans)
        return [graph_tracing_of(*row) for row in zip(*(c.tolist() for c in columns), strict=True)]

    @cached_property
    def countable(self) -> Mask:
        """Rows whose operations the trace can tell."""
        told = np.array([t in ("none", "node") for t in self.graph_tracing], bool)
        placed = (self.owned.device >= 0) | (self.kernel_launches + self.graph_launches == 0)
        known: Mask = told & placed & ~self.lost & self.trace.has_api
        return known

    def host(self, values: IntColumn) -> Column:
        """A column that is known where the trace has API calls at all."""
        return values.tolist() if self.trace.has_api else [None] * self.rows

    def operations(self, kind: OpKind) -> Column:
        """Operations of a kind that each row owns, unknown where the trace cannot tell."""
        return self.where(self.countable, count_kind(self.trace, self.owned, kind).tolist())

    @staticmethod
    def where(known: Mask, values: Column) -> Column:
        """The values where they are known, None elsewhere."""
        return [v if k else None for v, k in zip(values, known.tolist(), strict=True)]

    def spread(self, values: Column | IntColumn) -> Column:
        """A column of the rows that have a window, None in the others."""
        full: Column = [None] * self.rows
        listed = values if isinstance(values, list) else values.tolist()
        for row, value in zip(self.windowed.tolist(), listed, strict=True):
            full[row] = value
        return full

    @cached_property
    def has_window(self) -> Mask:
        """Rows that have a window."""
        known = np.zeros(self.rows, bool)
        known[self.windowed] = True
        return known


def graph_tracing_of(graphs: int, hidden: int, nodes: int, spans: int) -> GraphTracing:
    """How the graphs of a step show in the trace (docs/definitions.md)."""
    if graphs == 0:
        return "none"
    if hidden:
        return "missing"
    if nodes and spans:
        return "mixed"
    return "graph" if spans else "node"
