"""What a step is bound by, from where its idle time goes. All thresholds stand here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple

from launchlens.catalogue import GAPS
from launchlens.records.figures import BoundBy, Gaps
from launchlens.records.metric import Bound

GPU_BOUND_IDLE_BELOW = 0.20
"""Idle below this fraction of the window: the GPU is the bottleneck."""

DOMINANT_SHARE = 0.60
"""A class of causes with at least this share of the idle time names the bound."""


def what_bounds(
    idle: float | None, gaps: Gaps | None, bounds: Mapping[str, Bound] | None = None
) -> BoundBy | None:
    """BoundBy of a step from its idle fraction and gap causes; None where these are unknown.

    - ``gpu-bound``: idle below `GPU_BOUND_IDLE_BELOW`.
    - ``launch-bound``: at least `DOMINANT_SHARE` of the idle time waits for the CPU to submit
      (lead-in, host, launch).
    - ``sync-bound``: at least that share passes inside synchronize calls or blocking copies.
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
    total: float = sum(astuple(gaps))
    hidden = bounds.get("idle") == "lower"
    if hidden:  # at most the whole window is idle: what a span hides waits for the device
        total /= idle
    if gaps.sync >= DOMINANT_SHARE * total:
        return "sync-bound"
    if f"{GAPS}.sync" in bounds:  # the rest may pass in calls without a name
        return None
    if gaps.lead_in + gaps.host + gaps.launch >= DOMINANT_SHARE * total:
        return "launch-bound"
    return None if hidden else "mixed"
