"""One step as a graph of dependencies: its thread's calls, what they submitted, who waits for whom.

The thread makes its calls one after the other; an operation starts when its call has reached the
GPU and what stands before it on its stream has ended; a synchronize call and a copy that holds up
the host return when the work they wait for is done. Each of these waits keeps the time it was seen
to take, so that a graph in which nothing is changed takes exactly as long as the step did.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from launchlens.calls import CallKind
from launchlens.calls.classing import Calls
from launchlens.forecast.dependencies import (
    NEVER,
    Typical,
    before_on_stream,
    bind,
    outer_calls,
    waited_for,
    waits_of,
)
from launchlens.records.columns import IntColumn, Trace


@dataclass(frozen=True)
class StepGraph:
    """A step whose costs can be changed. Columns are of its (calls,) or of its (operations,).

    Calls are in the thread's order, operations in that of their calls. ``after`` and ``beside``
    point to operations further up, `NONE` without.
    """

    gap_ns: IntColumn
    """What the thread does before each call, outside of any call."""
    cost_ns: IntColumn
    """What each call takes, without what it waits."""
    waits_for: IntColumn
    """The operation whose end a call waits for, `NONE` without."""
    returns_ns: IntColumn
    """From that operation's end to the call's return."""
    kind: npt.NDArray[np.int8]
    """`CallKind` of each call, as it counts."""
    row: IntColumn
    """Its row in the trace's table of calls, `NONE` for a call that the trace does not have."""
    tail_ns: int
    """From the last call's return to the end of the range."""
    op_call: IntColumn
    """The call of each operation, ascending."""
    op_ns: IntColumn
    """How long it runs."""
    op_kind: npt.NDArray[np.int8]
    """`OpKind` of each operation."""
    op_row: IntColumn
    """Its row in the trace's table of operations, `NONE` where the trace does not have it."""
    stream: IntColumn
    """Its stream."""
    latency_ns: IntColumn
    """From its call's start to its own, everything before it having ended."""
    after: IntColumn
    """The operation before it on its stream."""
    delay_ns: IntColumn
    """From that one's end to its start."""
    beside: IntColumn
    """An operation of another stream that it waits for."""
    beside_ns: IntColumn
    """From that one's end to its start."""
    typical: Typical
    """Costs of launches of this step."""

    @property
    def calls(self) -> int:
        """Number of calls."""
        return int(self.gap_ns.size)

    @property
    def operations(self) -> int:
        """Number of operations."""
        return int(self.op_ns.size)

    @cached_property
    def launches(self) -> npt.NDArray[np.bool_]:
        """Which calls launch kernels or graphs, shape (calls,)."""
        found: npt.NDArray[np.bool_] = (self.kind == CallKind.KERNEL) | (
            self.kind == CallKind.GRAPH
        )
        return found


@dataclass(frozen=True, slots=True)
class StepRows:
    """Which calls are a step's: rows ``low`` to ``high`` of the table, and its range's times."""

    low: int
    high: int
    start_ns: int
    end_ns: int


class TraceIndex:
    """The operations of a trace by call; only those of the steps asked for are put in order."""

    def __init__(self, trace: Trace, calls: Calls) -> None:
        self.trace, self.calls = trace, calls

    def ops_of(self, rows: StepRows) -> IntColumn:
        """Operations of a step's calls, by call, then start."""
        ops = self.trace.ops
        mine = np.flatnonzero((ops.api_row >= rows.low) & (ops.api_row < rows.high))
        return mine[np.lexsort((ops.start_ns[mine], ops.api_row[mine]))]


def build(index: TraceIndex, rows: StepRows, *, delay_ns: int) -> StepGraph:
    """The graph of a step; ``delay_ns`` is typical between operations that are submitted in time.

    Calls made inside another call (the runtime's into the driver) are part of it.
    """
    api, table = index.trace.api, index.trace.ops
    outer, host = outer_calls(api.start_ns[rows.low : rows.high], api.end_ns[rows.low : rows.high])
    call_rows = rows.low + outer
    start = api.start_ns[call_rows] - rows.start_ns
    end = api.end_ns[call_rows] - rows.start_ns
    ops = index.ops_of(rows)
    op_call = host[table.api_row[ops] - rows.low]
    op_start = table.start_ns[ops] - rows.start_ns
    op_end = table.end_ns[ops] - rows.start_ns
    stream = table.stream_id[ops].astype(np.int64)
    after = before_on_stream(stream)
    kind = _kinds(index, rows, outer, host)
    beside = waited_for(kind, op_call, stream, op_start, op_end)
    since_call = op_start - start[op_call]
    after_end = np.where(after >= 0, op_end[after], NEVER)
    free = since_call[start[op_call] >= after_end]
    latency = int(np.median(free)) if free.size else 0
    typical = Typical(max(latency, 0), delay_ns)
    latency_ns, delay = bind(op_start, start[op_call], after_end, typical)
    other_end = np.where(beside >= 0, op_end[beside], NEVER)
    waits_for, returns, cost = waits_of(kind, start, end, op_call, op_end)
    before = np.concatenate([[0], end[:-1]])
    return StepGraph(
        gap_ns=start - before,
        cost_ns=cost,
        waits_for=waits_for,
        returns_ns=returns,
        kind=kind,
        row=call_rows,
        tail_ns=rows.end_ns - rows.start_ns - int(end[-1] if end.size else 0),
        op_call=op_call,
        op_ns=op_end - op_start,
        op_kind=table.kind[ops],
        op_row=ops.astype(np.int64),
        stream=stream,
        latency_ns=latency_ns,
        after=after,
        delay_ns=delay,
        beside=beside,
        beside_ns=np.where(beside >= 0, np.minimum(op_start - other_end, delay_ns), 0),
        typical=typical,
    )


def _kinds(
    index: TraceIndex, rows: StepRows, outer: IntColumn, host: IntColumn
) -> npt.NDArray[np.int8]:
    """Kind of each outer call, or of the call inside it that counts."""
    inner = index.calls.kind[rows.low : rows.high]
    kind = inner[outer].copy()
    for place in np.flatnonzero(inner != CallKind.OTHER).tolist():
        if kind[host[place]] == CallKind.OTHER:
            kind[host[place]] = inner[place]
    return kind
