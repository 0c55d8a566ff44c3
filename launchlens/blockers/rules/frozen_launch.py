"""A launch depends on values: a graph would freeze it.

What: between two eager recordings of the same shapes with other values, a kernel has another grid,
block or amount of shared memory, a copy or memset has another number of bytes, or one of them is
there in one recording only. It shows when two traces are given: ``launchlens blockers A B``.

Why it matters: nothing fails. The graph replays the launch of the capture, with its sizes, whatever
the values are: too few blocks leave results out, too many read beyond them.

Example: a kernel launched over the number of tokens that a router chose; a grid computed from
``lengths.max().item()``; a loop over the experts that were hit.

Remedy: launch for the largest case and mask on the GPU; or leave that part out of the graph.

References: vllm-project/vllm#51458; CUDA C++ Programming Guide, "Graph update" (node parameters).
"""

from __future__ import annotations

from launchlens.blockers.hits import Hits, Rule
from launchlens.blockers.view import View
from launchlens.blockers.words import call_title

FIRST_NOTE = "Only in the first steps, where first use may change launches too."
ON_REPLAY = "A replay launches what was captured, whatever the values are."


def find(_view: View) -> list[Hits]:
    """Nothing: one recording alone cannot tell (`launchlens.blockers.between`)."""
    return []


RULE = Rule(
    id="frozen-launch",
    rank=95,
    silent=True,
    strength="silent: replays launch for the captured values",
    remedy="Launch for the largest case and mask on the GPU, or leave that part out of the graph.",
    title=call_title("a launch depends on values: {kinds}"),
    find=find,
)
