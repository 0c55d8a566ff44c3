"""The hard cases once more, row by row, straight from the definitions.

Nothing here is shared with the program: no vector, no sort, no join; rows are looked at one by one.
For small traces of one device only; times of gaps are in tests/plain_reference.py.
"""

from __future__ import annotations

KERNEL_LAUNCHES = ("cudaLaunchKernel", "cudaLaunch", "cuLaunchKernel")
GRAPHS = ("cudaGraphLaunch",)
SYNCS = ("cudaStreamSynchronize",)
QUERIES = ("cudaEventQuery",)
NOT_READY = 600
CAPTURES = ("cudaStreamBeginCapture", "cudaStreamEndCapture")


def base(name):
    return None if name is None else name.split("_")[0]


def merged(calls):
    """Each call once: rows of one thread, id and base name that overlap are one call."""
    found = []
    for call in sorted(calls, key=lambda c: (c.start, -c.end)):
        for other in found:
            same = (call.pid, call.tid, call.corr, base(call.name)) == other["key"]
            if same and call.start < other["end"]:
                other["end"] = max(other["end"], call.end)
                other["result"] = other["result"] or call.result
                break
        else:
            found.append(
                {
                    "key": (call.pid, call.tid, call.corr, base(call.name)),
                    "name": base(call.name),
                    "start": call.start,
                    "end": call.end,
                    "corr": call.corr,
                    "pid": call.pid,
                    "tid": call.tid,
                    "result": call.result,
                    "ops": [],
                }
            )
    return found


def has_time(op):
    if op.start is None or op.end is None or op.start == 0:
        return False
    return op.end >= op.start


def give_operations(calls, ops):
    """Each operation to its call: the last of its id that starts before it, else the first."""
    orphans = []
    for op in ops:
        mine = [c for c in calls if (c["pid"], c["corr"]) == (op.pid, op.corr)]
        if op.copy_kind == 11 or not mine:
            orphans.append(op)
            continue
        mine.sort(key=lambda c: c["start"])
        before = [c for c in mine if has_time(op) and c["start"] <= op.start]
        (before[-1] if before else mine[0])["ops"].append(op)
    return orphans


def succeeded(call):
    return call["result"] == 0 or (call["name"] in QUERIES and call["result"] == NOT_READY)


def capturing(calls, call):
    """Whether a call lies between a BeginCapture and the EndCapture of its thread.

    Streams may be captured at the same time: each needs an EndCapture.
    """
    inside = 0
    for other in sorted(calls, key=lambda c: c["start"]):
        if (other["pid"], other["tid"]) != (call["pid"], call["tid"]):
            continue
        if other is call:
            return inside > 0
        if other["name"] == CAPTURES[0] and succeeded(other):
            inside += 1
        if other["name"] == CAPTURES[1]:
            inside = max(inside - 1, 0)
    return False


def figures(trace, pid, tid, start, end):
    """Counts of a step, busy time, and which of them are bounds."""
    calls = merged(trace.calls)
    give_operations(calls, trace.ops)
    mine = [c for c in calls if (c["pid"], c["tid"]) == (pid, tid) and start <= c["start"] <= end]
    count = dict.fromkeys(
        ("kernel_launches", "graph_launches", "memcpy_calls", "sync_calls", "captured_calls",
         "failed_calls", "unnamed_calls", "unlisted_launches", "lost_launches"), 0
    )  # fmt: skip
    hidden = 0
    for call in mine:
        name, ops = call["name"], call["ops"]
        kernels = [o for o in ops if o.kind in ("kernel", "graph")]
        if not succeeded(call):
            count["failed_calls"] += 1
        elif name is None:
            count["unnamed_calls"] += 1
            count["graph_launches"] += any(o.kind == "graph" for o in ops)
            count["kernel_launches"] += bool(kernels) and all(o.kind == "kernel" for o in kernels)
        elif name in (*KERNEL_LAUNCHES, *GRAPHS) or "Memcpy" in name:
            if not ops and capturing(calls, call):
                count["captured_calls"] += 1
            elif name in KERNEL_LAUNCHES:
                count["kernel_launches"] += 1
                count["lost_launches"] += not ops
            elif name in GRAPHS:
                count["graph_launches"] += 1
                hidden += not ops
            else:
                count["memcpy_calls"] += 1
        else:
            count["sync_calls"] += name in SYNCS
            count["unlisted_launches"] += bool(kernels)
    count["launches"] = count["kernel_launches"] + count["graph_launches"]
    own = [o for c in mine for o in c["ops"]]
    return count | _of_device(trace, mine, own, count, hidden, start, end)


def _of_device(trace, mine, own, count, hidden, start, end):
    timed = [o for o in own if has_time(o)]
    spans = sum(o.kind == "graph" for o in own)
    early = any(has_time(o) and o.start < c["start"] - 1_000 for c in mine for o in c["ops"])
    untimed = len(own) - len(timed)
    no_kernel = count["kernel_launches"] and not any(o.kind == "kernel" for o in own)
    unnamed = count["unnamed_calls"] > 0
    known = {
        "calls_are_bounds": unnamed,
        "launches_are_bounds": unnamed or count["unlisted_launches"] > 0,
    }
    if hidden or no_kernel or not timed:
        return known | {"busy_ns": None, "untimed_operations": untimed}
    here = [o for o in trace.ops if has_time(o)]
    window = range(start, max(end, *(o.end for o in timed)))
    busy = {t for o in here for t in range(o.start, o.end)} & set(window)
    lacks = count["lost_launches"] > 0 or untimed > 0
    return known | {
        "busy_ns": None if lacks and spans else len(busy),
        "window_ns": len(window),
        "busy_is": "upper" if spans else "lower" if lacks else None,
        "idle_is": "lower" if spans else "upper" if lacks else None,
        "gaps_known": not lacks and not early,
        "untimed_operations": untimed,
        "kernels": None if spans else sum(o.kind == "kernel" for o in own),
        "memcpys": None if spans else sum(o.kind == "memcpy" for o in own),
        "kernels_are_bounds": count["lost_launches"] > 0,
    }
