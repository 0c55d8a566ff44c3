"""A value that Python changes from step to step is captured once and never changes again.

What: the eager step differs from itself on the same input, without drawing random numbers, while
its replays are always the same: it keeps a state in Python. The first layer that differs is named.

Why it matters: nothing fails. A graph holds the numbers that Python had when it was captured; a
replay does not run Python, so a counter stands still.

Example: ``self.calls += 1; x = x * self.calls``; a schedule that grows with each step; a cache
whose length is a Python number.

Remedy: keep the value in a tensor on the GPU and change it there (``self.calls.add_(1)``), or
write it into a static buffer before each replay.

References: CUDA graphs in torch's notes: "CPU-side code is not run during replay".
"""

from __future__ import annotations

from launchlens.blockers.hits import Rule

RULE = Rule(
    id="frozen-value",
    rank=6,
    silent=True,
    whole_step=True,
    replays="frozen-value",
    strength="replays keep an old value",
    remedy=(
        "Keep the value in a tensor on the GPU and change it there, or write it into a static "
        "buffer before each replay."
    ),
    on_replay="keep a value that Python changes from step to step",
)
