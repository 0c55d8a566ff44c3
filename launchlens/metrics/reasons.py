"""Why figures of a step are unknown, and what to do about it."""

from __future__ import annotations

from launchlens.calls import CallKind
from launchlens.metrics.step_rows import StepRows
from launchlens.records.recorder import Need

NO_API = "the trace has no CUDA API calls: CUDA was not traced, or no GPU was used."
HIDDEN = (
    "{n} of {g} graph launches have neither node rows nor a whole-graph row, so what they ran is "
    "not in the trace{why}."
)
SPANS = "graphs are traced as whole spans, which hide their kernels."
MIXED = (
    "the step has graphs traced as nodes and graphs traced as whole spans, so operations "
    "cannot be counted."
)
NO_OPS = (
    "none of the step's {n} launches has a GPU row: kernels were not exported, or events were "
    "dropped."
)
NO_KERNELS = (
    "none of the step's {n} kernel launches has a kernel row, though other work has its rows: "
    "kernels were not exported, or events were dropped."
)
UNPLACED = (
    "GPU operations (whole graphs) carry no device id although their process uses several "
    "devices, so what kept which device busy is not in the trace."
)
NO_WORK = "the step submitted no GPU work from its thread."


def unknown_reason(m: StepRows, row: int) -> str | None:
    """Why some figures of a row are unknown, with the remedy; None where all are known."""
    recorder, tracing = m.trace.recorder, m.graph_tracing[row]
    kernels, graphs = m.kernel_launches[row], m.graph_launches[row]
    reason, need = NO_WORK, None
    if not m.trace.has_api:
        reason, need = NO_API, Need.CALLS
    elif tracing == "missing":
        why = recorder.because(Need.GRAPH_WORK)
        reason = HIDDEN.format(n=m.hidden[row], g=graphs, why=why)
        need = Need.GRAPH_WORK
    elif m.unplaced[row]:
        reason, need = UNPLACED, Need.GRAPH_DEVICES
    elif m.owned.device[row] < 0:
        launches = kernels + graphs + m.count_kinds(CallKind.MEMCPY, CallKind.MEMSET)[row]
        if launches:
            reason, need = NO_OPS.format(n=launches), Need.EVENTS
    elif m.lost[row]:
        reason, need = NO_KERNELS.format(n=kernels), Need.EVENTS
    elif not m.has_window[row]:
        reason, need = UNPLACED, Need.GRAPH_DEVICES
    elif tracing == "graph":
        reason, need = SPANS, Need.GRAPH_NODES
    elif tracing == "mixed":
        reason, need = MIXED, Need.ONE_GRAPH_TRACING
    else:
        return None
    remedy = recorder.advise(need) if need else None
    return f"{reason} {remedy}" if remedy else reason
