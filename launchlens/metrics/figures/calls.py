"""Host side: what the step's thread submits, and what it waits for or allocates."""

from __future__ import annotations

import numpy as np

from launchlens.calls import CallKind
from launchlens.metrics.figures import Column, figure
from launchlens.metrics.measurement import Measurement


@figure
def launches(m: Measurement) -> Column:
    """Kernel launches and graph launches."""
    return m.host(m.kernel_launches + m.graph_launches)


@figure
def kernel_launches(m: Measurement) -> Column:
    """Kernel launch calls that were not captured."""
    return m.host(m.kernel_launches)


@figure
def graph_launches(m: Measurement) -> Column:
    """Graph launch calls that were not captured."""
    return m.host(m.graph_launches)


@figure
def hidden_graph_launches(m: Measurement) -> Column:
    """Graph launches that have neither node rows nor a whole-graph row."""
    return m.host(m.hidden)


@figure
def memcpy_calls(m: Measurement) -> Column:
    """Calls that copy."""
    return m.host(m.count(m.of_kind(CallKind.MEMCPY)))


@figure
def memset_calls(m: Measurement) -> Column:
    """Calls that set memory."""
    return m.host(m.count(m.of_kind(CallKind.MEMSET)))


@figure
def submissions(m: Measurement) -> Column:
    """Launches, copies and memsets."""
    kinds = (CallKind.KERNEL, CallKind.GRAPH, CallKind.MEMCPY, CallKind.MEMSET)
    return m.host(m.count(m.of_kind(*kinds)))


@figure
def sync_calls(m: Measurement) -> Column:
    """Synchronize calls, captured or not."""
    return m.host(m.count(m.calls.kind == CallKind.SYNC))


@figure
def alloc_calls(m: Measurement) -> Column:
    """Calls that allocate, free, register or map memory."""
    return m.host(m.count(np.isin(m.calls.kind, (CallKind.ALLOC, CallKind.STREAM_ALLOC))))


@figure
def captured_calls(m: Measurement) -> Column:
    """Calls that submitted nothing because their stream was being captured."""
    return m.host(m.count(m.calls.captured))


@figure
def cpu_ns(m: Measurement) -> Column:
    """Length of the range."""
    lengths = [r.end_ns - r.start_ns for r in m.ranges]
    return [lengths[step] for step in m.owned.step.tolist()]
