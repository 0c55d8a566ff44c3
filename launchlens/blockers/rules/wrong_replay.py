"""A captured step replays, and computes something else than the eager step.

What: a capture attempt, or a captured variant of a profile, whose replays differ from the eager
step on inputs of other values by more than the dtype's rounding and eager's own spread explain.
The first layer that differs is named.

Why it matters: nothing fails. The graph holds only what was launched on the capturing stream, at
the addresses of then, on the branch taken then; all else is old or never written.

Example: a layer that launches on the default stream while another stream captures; a tensor that
Python makes anew for every step; ``if torch.cuda.is_current_stream_capturing(): …``.

Remedy: launch on the current stream, write into buffers that stay where they are, and take the
same branch while capturing; or leave the layer out of the graph (breakable or piecewise graphs).

References: pytorch/torchtitan#3559; CUDA C++ Programming Guide, stream capture.
"""

from __future__ import annotations

from launchlens.blockers.hits import Rule

RULE = Rule(
    id="wrong-replay",
    rank=5,
    silent=True,
    whole_step=True,
    replays="wrong-replay",
    strength="replays compute something else",
    remedy=(
        "Launch on the current stream, write into buffers that stay where they are, take the same "
        "branch while capturing; or leave that layer out of the graph (breakable or piecewise)."
    ),
    on_replay="compute something else than the eager step",
)
