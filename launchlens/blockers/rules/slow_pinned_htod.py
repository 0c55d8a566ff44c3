"""An "asynchronous" copy from pinned memory whose call takes long.

What: a host-to-device copy from pinned memory whose API call lasts many times longer than the
step's other submissions.

Why it matters: the source or target is strided, or the memory is pinned in a way the driver must
look up, so the copy is staged on the host, and the call waits for work queued on the GPU. The
host can no longer run ahead. Whether it can be captured depends on the copy; it is no error by
itself. Where torch falls back to a pageable intermediate, `pageable-htod` reports it instead.

Example: ``positions[:, :n].copy_(pinned[:, :n], non_blocking=True)`` with a pinned buffer of
shape ``[3, max + 1]``.

Remedy: copy contiguous rows one by one, or make the buffer contiguous in what is copied.

References: vllm-project/vllm#51841, #53412; pytorch/pytorch#146256.
"""

from __future__ import annotations

import numpy as np

from launchlens.blockers.copies import HTOD, Copies, copy_hits, find_copies
from launchlens.blockers.hits import Hits, Rule
from launchlens.blockers.view import Mask, View
from launchlens.blockers.words import copy_title
from launchlens.calls import CallKind

SLOW_RATIO = 10
SLOW_FLOOR_NS = 50_000


def slow_pinned(view: View, copies: Copies) -> Mask:
    """Which copies come from pinned memory by a call that took far longer than the median.

    The yardstick is the median duration of all submissions in the steps: with few copies their
    own median says nothing. Both the ratio and the floor must be passed.
    """
    kind = copies.host_kind
    pinned = (copies.direction == HTOD) & (kind == "Pinned")
    rows, _ = view.rows_with(CallKind.KERNEL, CallKind.GRAPH, CallKind.MEMCPY, CallKind.MEMSET)
    if not rows.size:
        return np.zeros(pinned.size, bool)
    api = view.trace.api
    median = float(np.median(api.end_ns[rows] - api.start_ns[rows]))
    spent = api.end_ns[copies.row] - api.start_ns[copies.row]
    slow: Mask = pinned & (spent >= SLOW_FLOOR_NS) & (spent >= SLOW_RATIO * median)
    return slow


def find(view: View) -> list[Hits]:
    """Slow copies from pinned memory that do not wait by their nature."""
    copies = find_copies(view)
    chosen = np.flatnonzero(slow_pinned(view, copies) & ~view.blocking[copies.row])
    if not chosen.size:
        return []
    return [copy_hits(view, copies, chosen, "pinned, slow call", "suspected")]


RULE = Rule(
    id="slow-pinned-htod",
    rank=30,
    copies=True,
    strength="medium: it holds up the host and may be capturable",
    remedy="Copy contiguous memory: row by row, or from a buffer laid out as it is copied.",
    title=copy_title,
    find=find,
)
