"""Memory is taken from the driver or given back to it inside the step.

What: cudaMalloc, cudaFree, cudaHostAlloc, cuMemCreate and their kin, on the step's thread or on
another thread of the process while the step runs. Stream-ordered allocation (cudaMallocAsync)
can be captured and is not reported.

Why it blocks: these calls wait for the device and are not permitted on a thread that captures in
the default mode; in that mode another thread's call ends the capture too. torch's allocator
takes memory from a pool of the graph while capturing, so allocations that warm-up makes
unnecessary do not block.

Example: the first step of a new shape, ``torch.cuda.empty_cache()`` in the step, a thread that
pins memory for the next batch.

Remedy: run a few steps before capturing; do not empty caches in the step; keep pinned buffers;
capture with ``capture_error_mode="thread_local"`` where another thread must allocate.

References: pytorch/pytorch#187795, #159594, #158152, #146924; vllm-project/vllm#57759.
"""

from __future__ import annotations

from launchlens.blockers.hits import Hits, Rule, call_hits
from launchlens.blockers.view import View
from launchlens.blockers.words import by_call_and_thread, call_title, first_use_or_always
from launchlens.calls import CallKind

FIRST_NOTE = "Only in the first steps: warming up before the capture makes it unnecessary."
ELSEWHERE_NOTE = (
    "Made by another thread while the step ran: it ends a capture in the default (global) error "
    "mode, not in thread_local mode."
)


def find(view: View) -> list[Hits]:
    """Allocations during steps, the step's own apart from other threads'."""
    return [
        call_hits(view, row, owner, kinds, "suspected", ELSEWHERE_NOTE, timed=False)
        if elsewhere
        else first_use_or_always(view, row, owner, kinds, FIRST_NOTE)
        for kinds, row, owner, elsewhere in by_call_and_thread(view, CallKind.ALLOC)
    ]


RULE = Rule(
    id="alloc",
    rank=50,
    errors=("out-of-memory", "not-permitted", "other-thread"),
    fails_as=(CallKind.ALLOC,),
    strength="high, unless warmed up in the graph's own pool",
    remedy=(
        "Warm up before capturing, keep caches and pinned buffers, and allocate outside the step; "
        "thread_local capture mode where another thread must."
    ),
    title=call_title("memory from the driver: {kinds}"),
    find=find,
)
