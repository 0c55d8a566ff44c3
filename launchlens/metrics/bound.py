"""What a step is bound by, from where its idle time goes. All thresholds stand here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from launchlens.catalogue import GAPS, gap_causes
from launchlens.records.figures import BoundBy, Gaps
from launchlens.records.metric import Bound

GPU_BOUND_IDLE_BELOW = 0.20
"""Idle below this fraction of the window: the GPU is the bottleneck."""

DOMINANT_SHARE = 0.60
"""A class of causes with at least this share of the idle time names the bound."""

_ORDER: tuple[BoundBy, ...] = ("sync-bound", "launch-bound")
_SPOKEN_FOR = {
    bound: tuple(cause for cause, metric in gap_causes().items() if metric.speaks_for == bound)
    for bound in _ORDER
}


def what_bounds(
    idle: float | None, gaps: Gaps | None, bounds: Mapping[str, Bound] | None = None
) -> BoundBy | None:
    """BoundBy of a step from its idle fraction and gap causes; None where these are unknown.

    - ``gpu-bound``: idle below `GPU_BOUND_IDLE_BELOW`.
    - ``sync-bound``, ``launch-bound``: at least `DOMINANT_SHARE` of the idle time has causes that
      speak for it (`Metric.speaks_for`): synchronize calls and blocking copies; the CPU that has
      yet to submit.
    - ``mixed``: none of these.

    ``bounds`` says which figures are only bounds (`Step.bounds`). What they cannot prove is None: a
    small idle fraction that is a lower bound (whole-graph spans count as busy throughout), or a
    large one that is an upper bound; and that a step does not wait in calls that have no name.
    """
    bounds = bounds or {}
    if idle is not None and idle < GPU_BOUND_IDLE_BELOW:
        return None if bounds.get("idle") == "lower" else "gpu-bound"
    if idle is None or gaps is None or bounds.get("idle") == "upper":
        return None
    idle_ns = asdict(gaps)
    total: float = sum(idle_ns.values())
    hidden = bounds.get("idle") == "lower"
    if hidden:  # at most the whole window is idle: what a span hides waits for the device
        total /= idle
    for bound, causes in _SPOKEN_FOR.items():
        if sum(idle_ns[cause] for cause in causes) >= DOMINANT_SHARE * total:
            return bound
        if any(bounds.get(f"{GAPS}.{cause}") == "lower" for cause in causes):
            return None  # the rest may be of these causes too: waits in calls without a name
    return None if hidden else "mixed"
