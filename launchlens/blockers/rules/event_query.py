"""Somebody asks CUDA whether work is finished while the step runs.

What: cudaEventQuery or cudaStreamQuery from any thread of the process during a step.

Why it matters: in the default (global) capture mode a query from any thread is not permitted
while another thread captures (error 900), and the capture ends. torch's own allocators put their
queries off while capturing; threads that pin memory and NCCL's watchdog may not.

Example: a data-loading thread with ``pin_memory=True``; a watchdog that polls events.

Remedy: of another thread, capture with ``torch.cuda.graph(…,
capture_error_mode="thread_local")``, or pause the thread while capturing; of the capturing thread
itself, leave the query out of the step, as no mode permits it.

References: vllm-project/vllm#57759; pytorch/pytorch#175425, #146924.
"""

from __future__ import annotations

from dataclasses import replace

from launchlens.blockers.hits import Hits, Rule, call_hits
from launchlens.blockers.view import View
from launchlens.blockers.words import by_call_and_thread, call_title
from launchlens.calls import CallKind

_OWN_THREAD = (
    "Do not ask for events or streams inside the step: leave the query out, or ask after the "
    "replay. Another capture error mode does not help the capturing thread itself."
)


def find(view: View) -> list[Hits]:
    """Queries during steps, the step's own thread apart from others."""
    hits = []
    for kinds, row, owner, elsewhere in by_call_and_thread(view, CallKind.QUERY):
        queries = call_hits(
            view, row, owner, kinds, "suspected", direction="query", timed=not elsewhere
        )
        hits.append(queries if elsewhere else replace(queries, remedy=_OWN_THREAD))
    return hits


RULE = Rule(
    id="event-query",
    rank=70,
    errors=("captured-event", "other-thread", "not-permitted"),
    fails_as=(CallKind.QUERY,),
    strength="medium, by capture error mode",
    remedy='Capture with capture_error_mode="thread_local", or pause that thread meanwhile.',
    title=call_title("asked while the step runs: {kinds}"),
    find=find,
)
