"""What figures of steps are computed from: calls, owned operations, windows, made once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from launchlens.calls import CallKind
from launchlens.calls.classing import class_calls
from launchlens.calls.step_calls import calls_of, calls_of_processes
from launchlens.metrics.beside import Beside, submitted_beside
from launchlens.metrics.figures import Column
from launchlens.metrics.idle import Windows, measure_windows
from launchlens.metrics.placement import Unplaced, may_share_gpu
from launchlens.metrics.step_ops import count_kind, graph_tracing_of, own, own_extent
from launchlens.metrics.steps import StepRange
from launchlens.records.columns import IntColumn, OpKind, Trace
from launchlens.records.figures import GraphTracing

CLOCK_TOLERANCE_NS = 1_000
"""An operation that starts this long before its call shows that two clocks disagree."""
Mask = npt.NDArray[np.bool_]


class StepRows:
    """Rows of a trace: one for each (step, device), with what all figures need.

    ``windowed`` lists the rows that have a window, in the order of ``windows`` and ``device_time``;
    ``last_own_ns`` (end of the last own operation) and ``range_end_ns`` are theirs.
    """

    def __init__(self, trace: Trace, ranges: Sequence[StepRange]) -> None:
        self.trace, self.ranges = trace, ranges
        self.calls = class_calls(trace)
        self._counted: dict[CallKind, IntColumn] = {}
        self._ran: dict[int, IntColumn] = {}
        starts = np.array([r.start_ns for r in ranges], np.int64)
        ends = np.array([r.end_ns for r in ranges], np.int64)
        threads = np.array([r.thread for r in ranges], np.int64)
        slices, unplaced = calls_of(trace.api, threads, starts, ends), Unplaced(trace)
        whole = np.array([r.all_threads for r in ranges], bool)
        if whole.any():
            processes = np.array([r.process for r in ranges], np.int64)
            slices = calls_of_processes(trace.api, processes).where(whole, slices)
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
            number = number.copy()
            for row in np.flatnonzero(self.owned.is_split).tolist():
                part = slice(slices.low[row], slices.high[row])
                number[row] = int(self.here(row, positions[part]).sum())
        return number

    def count_of_step(self, wanted: Mask) -> IntColumn:
        """How many of these calls the step of each row has, wherever they ran."""
        return self.owned.calls.within(np.flatnonzero(wanted)).count

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
        """Calls of each row that have a whole-graph row, whatever their name."""
        spans = self.calls.has_span.copy()
        spans[self.calls.inner[0]] = False  # they count with the call around them
        return self.count(spans)

    def here(self, row: int, calls: IntColumn) -> Mask:
        """Which calls of a step count at a row's device: those that ran something there.

        Calls without an operation (synchronize) count at the primary device.
        """
        here: Mask = np.isin(calls, self._ran_at(row))
        if self.owned.is_primary[row]:
            here |= ~(self.calls.has_op[calls] | self.calls.has_span[calls])
        return here

    def _ran_at(self, row: int) -> IntColumn:
        """The calls with an operation on a row's device; what counts once is of the outer call."""
        if row not in self._ran:
            owned, ran = self.owned, []
            for table, order, slices in (
                (self.trace.ops, owned.order, owned.ops),
                (self.trace.untimed, owned.untimed_order, owned.untimed),
            ):
                ran.append(table.api_row[order[slices.low[row] : slices.high[row]]])
            calls = np.unique(np.concatenate(ran)).astype(np.int64)
            inner, outer = self.calls.inner
            self._ran[row] = np.union1d(calls, outer[np.isin(inner, calls)])
        return self._ran[row]

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

    @cached_property
    def step_launches(self) -> IntColumn:
        """Launches of the step of each row, wherever they ran."""
        return self.count_of_step(self.of_kind(CallKind.KERNEL) | self.of_kind(CallKind.GRAPH))

    @cached_property
    def unnamed(self) -> IntColumn:
        """Calls without a name of the step of each row."""
        return self.count_of_step(self.calls.unnamed)

    @cached_property
    def unlisted(self) -> IntColumn:
        """Calls with a kernel of the step of each row that are in no list of launches."""
        return self.count_of_step(self.calls.unlisted)

    @cached_property
    def lost_of_step(self) -> IntColumn:
        """Kernel launches of the step of each row that have no operation."""
        return self.count_of_step(self.calls.lost)

    @cached_property
    def untimed_of_step(self) -> IntColumn:
        """Operations without a time of the step of each row."""
        rows = self.trace.untimed.api_row
        return self.owned.calls.within(np.sort(rows[rows >= 0])).count

    @cached_property
    def early(self) -> IntColumn:
        """Operations of each row that start before their call does."""
        order, ops, api = self.owned.order, self.trace.ops, self.trace.api
        ahead = api.start_ns[ops.api_row[order]] - ops.start_ns[order]
        return self.owned.ops.within(np.flatnonzero(ahead > CLOCK_TOLERANCE_NS)).count

    @cached_property
    def shares_gpu(self) -> Mask:
        """Rows whose device may be another process's GPU, so that its work would matter."""
        shared = np.zeros(self.rows, bool)
        shared[self.windowed] = may_share_gpu(self.trace, self.owned, self.windowed, self.windows)
        return shared

    @cached_property
    def beside(self) -> Beside:
        """What other threads submit within the range of each row."""
        ranges = [self.ranges[i] for i in self.owned.step.tolist()]
        thread, start, end = (
            np.array([getattr(r, name) for r in ranges], np.int64)
            for name in ("thread", "start_ns", "end_ns")
        )
        alone = np.array([r.all_threads for r in ranges], bool)
        return submitted_beside(self.trace, self.calls, self.owned.calls, thread, start, end, alone)

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
