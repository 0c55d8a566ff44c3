"""The host waits for the GPU inside the step, without a copy that would explain it.

What: a device, stream, event or context synchronize between two submissions of the step. A
synchronize after the last submission is the caller waiting for the step's result (a benchmark
does this on purpose) and is not reported; neither is one that belongs to a copy, which
`pageable-htod` or `dtoh-sync` reports.

Why it blocks: synchronizing a capturing stream, or the device while any stream captures, is not
permitted (error 900).

Example: ``torch.cuda.synchronize()`` for a timer, ``event.synchronize()``, a blocking copy from
pinned memory (``pinned.to("cuda")`` without ``non_blocking=True``), debug settings such as
CUDA_LAUNCH_BLOCKING.

Remedy: remove it; order streams with events (``wait_stream``) instead of the host.

References: NVIDIA/TensorRT-LLM#5262; CUDA C++ Programming Guide, "Prohibited and unhandled
operations" of stream capture.
"""

from __future__ import annotations

import numpy as np

from launchlens.blockers.copies import DTOH, find_copies
from launchlens.blockers.hits import Hits, Rule, call_hits
from launchlens.blockers.view import Rows, View
from launchlens.blockers.words import by_call_name, call_title
from launchlens.calls import CallKind


def find(view: View) -> list[Hits]:
    """Synchronizing calls that something in the step is submitted after."""
    rows, step = view.rows_with(CallKind.SYNC)
    between = (view.next_submission(rows, step) >= 0) & ~np.isin(rows, _explained(view))
    hits = []
    for name, chosen in by_call_name(view, rows[between], step[between]):
        hits.append(call_hits(view, *chosen, name, "likely", direction="sync"))
    return hits


def _explained(view: View) -> Rows:
    """Synchronizes that belong to a copy another rule reports."""
    copies = find_copies(view)
    kind = copies.host_kind
    reported = (copies.direction == DTOH) | (kind == "Pageable") | (kind == "Unknown")
    explained: Rows = copies.sync_row[reported & (copies.sync_row >= 0)]
    return explained


RULE = Rule(
    id="explicit-sync",
    rank=40,
    errors=("not-permitted", "captured-event"),
    fails_as=(CallKind.SYNC,),
    suspects=lambda event: event.kind == "sync",
    strength="high",
    remedy="Remove it; order work on several streams with events instead of the host.",
    title=call_title("the host waits: {kinds}"),
    find=find,
)
