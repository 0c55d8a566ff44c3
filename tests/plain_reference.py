"""The device-side figures once more, instant by instant, straight from the definitions.

Nothing here is shared with the program: an instant of a nanosecond is an integer, a stretch of
time a set of integers. Slow and plain, for small traces only.
"""

from __future__ import annotations

from build_trace import OpRow, TraceBuilder

LAUNCHES = ("cudaLaunchKernel", "cuLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernelEx")
GRAPHS = ("cudaGraphLaunch", "cuGraphLaunch")
SYNCS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize")


def base(name):
    return name.split("_")[0]


def blocks(name):
    return base(name) in SYNCS or ("Memcpy" in name and "Async" not in name)


def figures(trace: TraceBuilder, pid: int, tid: int, start: int, end: int) -> dict[int, dict]:
    """Figures of the step ``[start, end]`` on a thread, by device; none without operations.

    Operations of other processes on a device of the same number count as busy.
    """
    mine = [c for c in trace.calls if (c.pid, c.tid) == (pid, tid) and start <= c.start <= end]
    ids = {c.corr for c in mine}
    own = [o for o in trace.ops if o.pid == pid and o.corr in ids]
    found = {}
    for device in sorted({o.device for o in own}):
        found[device] = _on_device(
            trace, pid, tid, start, end, [o for o in own if o.device == device]
        )
    return found


def host_counts(trace, pid, tid, start, end):
    """Host-side counts of a step without captures and twins."""
    names = [
        base(c.name)
        for c in trace.calls
        if (c.pid, c.tid) == (pid, tid) and start <= c.start <= end
    ]
    return {
        "kernel_launches": sum(n in LAUNCHES for n in names),
        "graph_launches": sum(n in GRAPHS for n in names),
        "memcpy_calls": sum("Memcpy" in n for n in names),
        "memset_calls": sum("Memset" in n for n in names),
        "sync_calls": sum(n in SYNCS for n in names),
    }


def _on_device(trace, pid, tid, start, end, own: list[OpRow]):
    device = own[0].device
    first, last = min(o.start for o in own), max(o.end for o in own)
    window = range(start, max(end, last))
    here = [o for o in trace.ops if o.device == device]
    busy = {t for o in here for t in range(o.start, o.end)}
    kernels = {t for o in here if o.kind in ("kernel", "graph") for t in range(o.start, o.end)}
    waits = {
        t
        for c in trace.calls
        if (c.pid, c.tid) == (pid, tid) and blocks(c.name)
        for t in range(c.start, c.end)
    }
    projected = range(first, last)
    gaps = dict.fromkeys(("lead_in", "host", "launch", "sync", "device", "tail", "unlinked"), 0)
    for g0, g1 in _pieces(window, busy):
        _charge(trace, gaps, g0, g1, first, window.stop, here, waits)
    return {
        "window_ns": len(window),
        "busy_ns": len(busy & set(window)),
        "idle": 1 - len(busy & set(window)) / len(window),
        "idle_kernels_only": 1 - len(kernels & set(window)) / len(window),
        "projected_ns": last - first,
        "idle_projected": 1 - len(busy & set(projected)) / (last - first),
        "lead_in_ns": first - start,
        "tail_ns": end - last,
        "gaps_ns": gaps,
        "kernels": sum(o.kind == "kernel" for o in own),
        "memcpys": sum(o.kind == "memcpy" for o in own),
        "memsets": sum(o.kind == "memset" for o in own),
        "graph_spans": sum(o.kind == "graph" for o in own),
    }


def _pieces(window, busy):
    """Maximal runs of instants of the window at which nothing runs."""
    pieces, begun = [], None
    for t in window:
        if t in busy:
            if begun is not None:
                pieces.append((begun, t))
            begun = None
        elif begun is None:
            begun = t
    return pieces if begun is None else [*pieces, (begun, window.stop)]


def _charge(trace, gaps, g0, g1, first, window_end, here, waits):
    if g1 == window_end:
        gaps["tail"] += g1 - g0
        return
    if g1 <= first:
        gaps["lead_in"] += g1 - g0
        return
    op = min((o for o in here if o.start == g1), key=lambda o: (o.pid, o.corr))
    submitted = [c.start for c in trace.calls if (c.pid, c.corr) == (op.pid, op.corr)]
    if not submitted:
        gaps["unlinked"] += g1 - g0
    elif min(submitted) <= g0:
        gaps["device"] += g1 - g0
    else:
        for t in range(g0, g1):
            cause = "sync" if t in waits else "host" if t < min(submitted) else "launch"
            gaps[cause] += 1
