"""Device side: operations that the step owns."""

from __future__ import annotations

from launchlens.metrics.figures import Column, figure
from launchlens.metrics.measurement import Measurement
from launchlens.metrics.ownership import count_kind
from launchlens.records.columns import OpKind


@figure
def kernels(m: Measurement) -> Column:
    """Kernel rows."""
    return m.operations(OpKind.KERNEL)


@figure
def memcpys(m: Measurement) -> Column:
    """Copy rows."""
    return m.operations(OpKind.MEMCPY)


@figure
def memsets(m: Measurement) -> Column:
    """Memset rows."""
    return m.operations(OpKind.MEMSET)


@figure
def graph_spans(m: Measurement) -> Column:
    """Whole-graph rows; of a row without a device those that its launches have."""
    own = count_kind(m.trace, m.owned, OpKind.GRAPH)
    own[m.owned.device < 0] = m.spans[m.owned.device < 0]
    return m.host(own)
