"""How far two runs of a step are apart, and how far rounding explains."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

# Differences that other kernels for the same step explain, in roundings of the largest output. In
# float32 attention may multiply in TF32, which rounds 2**13 times as coarsely.
ROUNDINGS = {"bfloat16": 8, "float16": 8, "float32": 8 * 2**13}
AS_NOISE = 4  # how far beyond its own spread eager noise may lead replays


@dataclass(frozen=True, slots=True)
class Distances:
    """Largest absolute differences over all inputs; infinite where a side is not finite."""

    spread: float
    """Of eager from itself on the same input."""
    repeat: float
    """Of replays from themselves on the same input."""
    apart: list[float]
    """Of the replay from eager, by input."""
    scale: float
    """Largest output of eager."""
    moves: float
    """Of eager's outputs between inputs."""
    always: bool
    """Whether eager differs from itself on every input."""


def measure(eager: list[tuple[Any, Any]], replayed: list[tuple[Any, Any]]) -> Distances:
    """Distances of outputs, two of each side for each input."""
    spreads = [distance(*pair) for pair in eager]
    first = eager[0][0]
    return Distances(
        spread=max(spreads),
        repeat=max(distance(*pair) for pair in replayed),
        apart=[
            max(distance(a, b) for a, b in zip(ours, theirs, strict=True))
            for ours, theirs in zip(eager, replayed, strict=True)
        ],
        scale=max(_largest(one) for pair in eager for one in pair),
        moves=max(distance(first, pair[0]) for pair in eager[1:]),
        always=min(spreads) > 0,
    )


def tolerance_of(known: Distances, dtype: str) -> float:
    """Absolute difference up to which replays count as the same; see `ROUNDINGS`."""
    import torch

    rounding = torch.finfo(getattr(torch, dtype)).eps * known.scale
    allowed = float(ROUNDINGS[dtype] * rounding)
    return max(allowed, AS_NOISE * known.spread if known.spread <= allowed else 0.0)


def distance(first: Any, second: Any) -> float:
    """The largest absolute difference; infinite where it is no number."""
    import torch

    if torch.equal(first, second):
        return 0.0
    apart = float((first - second).abs().max())
    return apart if math.isfinite(apart) else math.inf


def _largest(values: Any) -> float:
    largest = float(values.abs().max())
    return largest if math.isfinite(largest) else math.inf
