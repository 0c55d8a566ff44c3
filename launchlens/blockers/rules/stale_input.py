"""Host memory is copied to the GPU inside the step, asynchronously and from pinned memory.

What: pinned host-to-device copies that nothing waits for.

Why it matters: nothing fails. The graph stores the address of the host buffer, and every replay
copies what lies there then. If the step fills a new buffer each time, as eager code does, replays
read old or foreign data, silently.

Example: ``ids = next_ids.pin_memory().to("cuda", non_blocking=True)`` in the step.

Remedy: copy inputs into static GPU buffers before the replay (``static_ids.copy_(ids)``), and
leave the copy out of the captured step; or keep one pinned buffer and write into it.

References: flagos-ai/FlagGems#4472 (whose remedy pins); vllm-project/vllm-ascend#16428;
pytorch/pytorch#172156.
"""

from __future__ import annotations

import numpy as np

from launchlens.blockers.copies import HTOD, copy_hits, find_copies
from launchlens.blockers.hits import Hits, Rule
from launchlens.blockers.rules.slow_pinned_htod import slow_pinned
from launchlens.blockers.view import View
from launchlens.blockers.words import copy_title

NOTE = (
    "A trace does not show whether the source changes from step to step; if it does, a captured "
    "step silently copies old data."
)


def find(view: View) -> list[Hits]:
    """Pinned host-to-device copies, but for those that `slow-pinned-htod` reports."""
    copies = find_copies(view)
    kind = copies.host_kind
    pinned = (copies.direction == HTOD) & (kind == "Pinned") & (copies.waits == 0)
    chosen = np.flatnonzero(pinned & ~slow_pinned(view, copies))
    if not chosen.size:
        return []
    return [copy_hits(view, copies, chosen, "pinned", "suspected", NOTE)]


RULE = Rule(
    id="stale-input",
    rank=100,
    silent=True,
    strength="silent: old data after capture",
    remedy="Copy inputs into static GPU buffers before each replay, outside the captured step.",
    title=copy_title,
    find=find,
)
