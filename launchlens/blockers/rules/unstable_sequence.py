"""Steps of the same shape do not submit the same work.

What: among steps with the same phase and number of tokens, the sequence of submitted kernels
differs, or their number. Steps before the last change at the start of the trace (first use) are
left aside.

Why it matters: a graph replays exactly what was captured. If the host decides from data what to
launch (experts, early exit, a loop until convergence), a replay does something else than the
eager step, without an error.

Example: ``for _ in range(n_experts_hit): …``; ``if step % 2: …``; a kernel choice that changes
with the values.

Remedy: static shapes and masks instead of loops over data; leave that part out of the graph
(breakable or piecewise graphs); capture one graph for each case.

References: TensorRT-LLM's and vLLM's piecewise graphs exist for this; IBM/vLLM-Hook#6.
"""

from __future__ import annotations

import numpy as np

from launchlens.blockers.hits import Hits, Rule
from launchlens.blockers.view import Rows, View

_MIN_STEPS = 3


def find(view: View) -> list[Hits]:
    """One finding for the steps of one shape whose sequences differ."""
    shapes: dict[tuple[str, int | None, int, int], list[int]] = {}
    for i, step in enumerate(view.steps):
        if step.graph_launches or step.lost_launches:
            continue  # what a graph runs is fixed; where rows were lost, sequences are not known
        shapes.setdefault((step.range.split("#")[0], step.tokens, step.pid, step.tid), []).append(i)
    hits = []
    for members in shapes.values():
        if len(members) >= _MIN_STEPS:
            hits.extend(_compare(view, members))
    return hits


def _compare(view: View, members: list[int]) -> list[Hits]:
    sequences = [_sequence(view, i) for i in members]
    kinds: list[Rows] = []
    labels: list[int] = []
    for sequence in sequences:
        same = next((k for k, known in enumerate(kinds) if np.array_equal(known, sequence)), None)
        if same is None:
            kinds.append(sequence)
        labels.append(len(kinds) - 1 if same is None else same)
    # First use (another algorithm chosen, a cache filled) ends with the warm-up.
    settled = labels[1:]
    if len(set(settled)) < 2:
        return []
    sizes = [s.size for s in sequences]
    row = np.array(
        [
            _first_difference(view, i, s, sequences[1])
            for i, s in zip(members, sequences, strict=True)
        ]
    )
    step = np.array(members, np.int64)
    known = view.steps[members[0]].tokens is not None
    shape = "" if known else " The trace does not tell their shapes: they may differ on purpose."
    note = (
        f"{len(set(labels))} different sequences in {len(members)} steps, "
        f"{min(sizes)} to {max(sizes)} operations.{shape}"
    )
    none = np.full(step.size, -1, np.int64)
    zero = np.zeros(step.size, np.int64)
    what = "kernel sequence differs"
    return [Hits(what, step, row, zero, none, none, "suspected", note, timed=False)]


def _sequence(view: View, step: int) -> Rows:
    """Names of the kernels a step submits, in submission order; copies and memsets by kind."""
    low = np.searchsorted(view.submitting, view.first[step])
    high = np.searchsorted(view.submitting, view.last[step])
    ops = view.op_of_call[view.submitting[low:high]]
    table = view.trace.ops
    return np.where(table.name[ops] >= 0, table.name[ops], -1 - table.kind[ops]).astype(np.int64)


def _first_difference(view: View, step: int, mine: Rows, other: Rows) -> int:
    """API row at which a step's sequence leaves another's; its first row when it does not."""
    low = int(np.searchsorted(view.submitting, view.first[step]))
    size = min(mine.size, other.size)
    differs = np.flatnonzero(mine[:size] != other[:size])
    place = int(differs[0]) if differs.size else min(size, max(mine.size - 1, 0))
    return int(view.submitting[min(low + place, view.submitting.size - 1)])


def _title(hits: Hits, _size: int | None) -> str:
    return f"{hits.kinds} between steps of the same shape"


RULE = Rule(
    id="unstable-sequence",
    rank=90,
    silent=True,
    whole_step=True,
    strength="data-dependent control flow",
    remedy=(
        "Static shapes and masks instead of loops over data; leave that part out of the graph "
        "(breakable or piecewise), or capture a graph for each case."
    ),
    title=_title,
    find=find,
)
