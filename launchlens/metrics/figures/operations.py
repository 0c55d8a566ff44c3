"""Device side: operations that the step owns."""

from __future__ import annotations

from functools import partial

from launchlens.metrics.figures import Column, figure, register
from launchlens.metrics.step_ops import count_kind
from launchlens.metrics.step_rows import StepRows
from launchlens.records.columns import OpKind

for kind in (OpKind.KERNEL, OpKind.MEMCPY, OpKind.MEMSET):
    register(f"{kind.name.lower()}s", partial(StepRows.operations, kind=kind))


@figure
def graph_spans(m: StepRows) -> Column:
    """Whole-graph rows; of a row without a device those that its launches have."""
    own = count_kind(m.trace, m.owned, OpKind.GRAPH)
    own[m.owned.device < 0] = m.spans[m.owned.device < 0]
    return m.host(own)


@figure
def untimed_operations(m: StepRows) -> Column:
    """Operations without a time; of a row without a device those of its step."""
    own = m.owned.untimed.count.copy()
    own[m.owned.device < 0] = m.untimed_of_step[m.owned.device < 0]
    return m.host(own)
