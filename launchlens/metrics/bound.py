"""What a step is bound by, from where its idle time goes. All thresholds stand here."""

from __future__ import annotations

from dataclasses import astuple

from launchlens.records.figures import BoundBy, Gaps

GPU_BOUND_IDLE_BELOW = 0.20
"""Idle below this fraction of the window: the GPU is the bottleneck."""

DOMINANT_SHARE = 0.60
"""A class of causes with at least this share of the idle time names the bound."""


def what_bounds(idle: float | None, gaps: Gaps | None, *, at_least: bool = False) -> BoundBy | None:
    """BoundBy of a step from its idle fraction and gap causes; None where these are unknown.

    - ``gpu-bound``: idle below `GPU_BOUND_IDLE_BELOW`.
    - ``launch-bound``: at least `DOMINANT_SHARE` of the idle time waits for the CPU to submit
      (lead-in, host, launch).
    - ``sync-bound``: at least that share passes inside synchronize calls or blocking copies.
    - ``mixed``: none of these.

    With ``at_least`` the idle fraction is a lower bound (whole-graph spans count as busy
    throughout): a small one then proves nothing, and the bound is None.
    """
    if idle is None or gaps is None:
        return None
    if idle < GPU_BOUND_IDLE_BELOW:
        return None if at_least else "gpu-bound"
    total = sum(astuple(gaps))
    if gaps.sync >= DOMINANT_SHARE * total:
        return "sync-bound"
    if gaps.lead_in + gaps.host + gaps.launch >= DOMINANT_SHARE * total:
        return "launch-bound"
    return "mixed"
