"""Why figures of a step are unknown, and what to do about it."""

from __future__ import annotations

from launchlens.records.columns import Trace
from launchlens.records.figures import GraphTracing

NO_API = (
    "the trace has no CUDA API calls: CUDA was not traced, or no GPU was used. "
    "Record it with nsys profile -t cuda,nvtx on a machine with a GPU."
)
HIDDEN = (
    "{n} of {g} graph launches have neither node rows nor a whole-graph row, so what they ran is "
    "not in the trace (nsys {version} exports no graph work in its default mode). Record it again "
    "with --cuda-graph-trace=node, or with a newer nsys (2025.3 exports it)."
)
SPANS = (
    "graphs are traced as whole spans, which hide their kernels. For counts of operations "
    "record with --cuda-graph-trace=node."
)
MIXED = (
    "the step has graphs traced as nodes and graphs traced as whole spans, so operations "
    "cannot be counted. Record it with one setting of --cuda-graph-trace."
)
NO_OPS = (
    "none of the step's {n} launches has a GPU row: kernels were not exported, or events were "
    "dropped. Record it again with nsys profile -t cuda,nvtx."
)
NO_KERNELS = (
    "none of the step's {n} kernel launches has a kernel row, though other work has its rows: "
    "kernels were not exported, or events were dropped. Record it again with nsys profile "
    "-t cuda,nvtx."
)
UNPLACED = (
    "GPU operations (whole graphs) carry no device id although their process uses several "
    "devices, so what kept which device busy is not in the trace. Record it again with "
    "--cuda-graph-trace=node."
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
        host: the step's calls by kind, with ``hidden``, ``node``, ``span`` and ``unplaced``.
        has_device: whether any of its operations ran on a known device.
        lost: whether none of its kernel launches has a kernel row.
        has_window: whether its window on the device is known.
    """
    if not trace.has_api:
        return NO_API
    if tracing == "missing":
        version = trace.info.nsys_version or "of this version"
        return HIDDEN.format(n=host["hidden"], g=host["graph"], version=version)
    if host["unplaced"]:
        return UNPLACED
    if not has_device:
        launches = host["kernel"] + host["graph"] + host["memcpy"] + host["memset"]
        return NO_OPS.format(n=launches) if launches else NO_WORK
    if lost:
        return NO_KERNELS.format(n=host["kernel"])
    return {"graph": SPANS, "mixed": MIXED}.get(tracing) if has_window else UNPLACED
