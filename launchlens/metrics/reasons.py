"""Why figures of a step are unknown, and what to do about it."""

from __future__ import annotations

from launchlens.records.columns import Trace
from launchlens.records.figures import GraphTracing
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


def unknown_reason(
    trace: Trace,
    tracing: GraphTracing,
    host: dict[str, int],
    *,
    has_device: bool,
    lost: bool,
    has_window: bool,
) -> str | None:
    """Why some figures of a step are unknown, with the remedy; None where all are known.

    Args:
        trace: the trace.
        tracing: how the step's graphs show in it.
        host: the step's launches (``kernel``, ``graph``), other submissions (``copies``), graph
            launches without work (``hidden``) and operations without a device (``unplaced``).
        has_device: whether any of its operations ran on a known device.
        lost: whether none of its kernel launches has a kernel row.
        has_window: whether its window on the device is known.
    """
    recorder = trace.recorder
    reason, need = NO_WORK, None
    if not trace.has_api:
        reason, need = NO_API, Need.CALLS
    elif tracing == "missing":
        why = recorder.because(Need.GRAPH_WORK)
        reason = HIDDEN.format(n=host["hidden"], g=host["graph"], why=why)
        need = Need.GRAPH_WORK
    elif host["unplaced"]:
        reason, need = UNPLACED, Need.GRAPH_DEVICES
    elif not has_device:
        launches = host["kernel"] + host["graph"] + host["copies"]
        if launches:
            reason, need = NO_OPS.format(n=launches), Need.EVENTS
    elif lost:
        reason, need = NO_KERNELS.format(n=host["kernel"]), Need.EVENTS
    elif not has_window:
        reason, need = UNPLACED, Need.GRAPH_DEVICES
    elif tracing == "graph":
        reason, need = SPANS, Need.GRAPH_NODES
    elif tracing == "mixed":
        reason, need = MIXED, Need.ONE_GRAPH_TRACING
    else:
        return None
    remedy = recorder.advise(need) if need else None
    return f"{reason} {remedy}" if remedy else reason
