"""Work outside the step's own streams: the default stream, or an event from before the step.

What: operations on the legacy default stream in a step that otherwise uses another stream; and
waits on an event that was recorded before the step began (a wait that comes before any record in
the step cannot mean an event of the step).

Why it blocks: a capture follows the capturing stream and what forks from it. Work on the default
stream is left out of the graph or ends the capture (errors 904 to 906); waiting on an event from
outside is a dependency across the border of the capture (error 905, isolation).

Example: a C++ helper that launches on stream 0; a communication library's own stream joined by
an event that was recorded in the previous step.

Remedy: launch on ``torch.cuda.current_stream()``; fork from and join to the capturing stream
inside the step; wait for earlier work before the capture begins, or use external events.

References: pytorch/torchtitan#3559; NVIDIA/TransformerEngine#808; pytorch/pytorch#155372.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from launchlens.blockers.hits import Hits, Rule, call_hits
from launchlens.blockers.view import Mask, Rows, View
from launchlens.blockers.words import call_title
from launchlens.calls import CallKind

USUAL_STREAM = 7
"""The null stream of a process's first context, as CUPTI mostly numbers it."""
USUAL_NOTE = (
    "The trace does not tell the number of the default stream: it is taken to be 7, as mostly."
)
LEFT_OUT = "What runs on the default stream is not in the graph."


def find(view: View) -> list[Hits]:
    """Work on the default stream beside a stream of the step's own, and waits on old events."""
    return [*_default_stream_work(view), *_old_event_waits(view)]


def _default_stream_work(view: View) -> list[Hits]:
    ops = view.trace.ops
    row = ops.api_row.astype(np.int64)
    step = np.where((row >= 0) & ~ops.is_node, view.step_of(np.maximum(row, 0)), -1)
    mine = np.flatnonzero(step >= 0)
    legacy = _on_default_stream(view, mine)
    on_legacy = np.bincount(step[mine][legacy], minlength=view.size)
    on_others = np.bincount(step[mine][~legacy], minlength=view.size)
    stray = mine[legacy & (on_legacy < on_others)[step[mine]]]
    if not stray.size:
        return []
    stray = stray[np.argsort(row[stray], kind="stable")]
    told = all(view.trace.devices[i].default_streams for i in np.unique(ops.device[stray]).tolist())
    note = None if told else USUAL_NOTE
    hits = call_hits(view, row[stray], step[stray], "work on the default stream", "suspected", note)
    return [replace(hits, silent=True, on_replay=LEFT_OUT)]


def _on_default_stream(view: View, rows: Rows) -> Mask:
    """Which operations ran on the default stream of a context of their process and device."""
    ops = view.trace.ops
    result = np.zeros(rows.size, bool)
    for i, device in enumerate(view.trace.devices):
        known = device.default_streams or (USUAL_STREAM,)
        result |= (ops.device[rows] == i) & np.isin(ops.stream_id[rows], known)
    return result


def _old_event_waits(view: View) -> list[Hits]:
    waits, step = view.rows_with(CallKind.WAIT)
    records, record_step = view.rows_with(CallKind.RECORD)
    first_record = view.last.copy()
    np.minimum.at(first_record, record_step, records)
    early = waits < first_record[step]
    if not early.any():
        return []
    return [
        call_hits(
            view, waits[early], step[early], "wait for an event from before the step", "suspected"
        )
    ]


RULE = Rule(
    id="legacy-stream",
    rank=60,
    errors=("empty-graph", "merge", "unmatched", "unjoined", "isolation", "implicit"),
    fails_as=(CallKind.WAIT,),
    strength="medium",
    remedy=(
        "Launch on the current stream; fork and join side streams inside the step; wait for "
        "earlier work before the capture."
    ),
    title=call_title("{kinds}"),
    find=find,
)
