"""Why figures of a step are unknown, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator

from launchlens.calls import CallKind
from launchlens.metrics.step_rows import StepRows
from launchlens.records.metric import Flaw
from launchlens.records.recorder import Need

NO_API = "the trace has no CUDA API calls: CUDA was not traced, or no GPU was used."
HIDDEN = (
    "the trace does not hold what {n} of {g} graph launches ran: it has neither node rows nor a "
    "whole-graph row for them{why}."
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
NO_TIMES = "none of the step's {n} operations has a time."
ROWS = (
    "{n} of the step's {of} kernel launches have no kernel row: events were dropped, or the "
    "recording ended first. Operation counts and busy are lower bounds, idle is an upper bound."
)
TIMES = (
    "{n} of the step's operations have no time, or end before they start: busy time is a lower "
    "bound, idle an upper bound."
)
CLOCKS = (
    "{n} of the step's operations start more than 1 µs before the call that submitted them: the "
    "clocks of CPU and GPU disagree, so that queue time, TKLQT and causes of gaps cannot be told."
)
GPUS = (
    "several processes use several GPUs, and the trace does not tell which GPU is device {n} of "
    "this process: what other processes ran may have kept it busy."
)
NO_WORK = "the step submitted no GPU work from its thread."


def unknown_reason(m: StepRows, row: int, flaws: frozenset[Flaw]) -> str | None:
    """Why some figures of a row are unknown or bounds, with the remedy; None where all are known.

    Several reasons stand one after the other; remedies that are alike stand once.
    """
    said: list[str] = []
    for reason, need in _reasons(m, row, flaws):
        remedy = m.trace.recorder.advise(need) if need else None
        said += [text for text in (reason, remedy) if text and text not in said]
    return " ".join(said) or None


def _reasons(m: StepRows, row: int, flaws: frozenset[Flaw]) -> Iterator[tuple[str, Need | None]]:
    if main := _main_reason(m, row):
        yield main
    elif Flaw.ROWS in flaws:
        of = m.count_of_step(m.of_kind(CallKind.KERNEL))[row]
        yield ROWS.format(n=m.lost_of_step[row], of=of), Need.EVENTS
    if not m.has_window[row]:
        return
    if Flaw.TIMES in flaws:
        yield TIMES.format(n=m.untimed_of_step[row]), Need.EVENTS
    if Flaw.CLOCKS in flaws:
        yield CLOCKS.format(n=m.early[row]), Need.EVENTS
    if Flaw.GPUS in flaws:
        device = m.trace.devices[int(m.owned.device[row])].device_id
        yield GPUS.format(n=device), Need.GPU_NUMBERS


def _main_reason(m: StepRows, row: int) -> tuple[str, Need | None] | None:
    """Why the counts of operations, or all figures of the device, are unknown."""
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
    elif not m.owned.ops.count[row]:
        reason, need = NO_TIMES.format(n=m.untimed_of_step[row]), Need.EVENTS
    elif not m.has_window[row]:
        reason, need = UNPLACED, Need.GRAPH_DEVICES
    elif tracing == "graph":
        reason, need = SPANS, Need.GRAPH_NODES
    elif tracing == "mixed":
        reason, need = MIXED, Need.ONE_GRAPH_TRACING
    else:
        return None
    return reason, need
