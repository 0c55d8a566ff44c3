"""Whether replays of a captured step compute what the eager step computes."""

from __future__ import annotations

from typing import Literal

from pydantic.dataclasses import dataclass

from launchlens.protocol.checked import STRICT

ReplayVerdict = Literal["right", "wrong-replay", "frozen-value", "unknown"]
"""Replays compute what eager does; they compute something else; a value that Python changes from
step to step stays as it was captured; it cannot be told, and the check says why.
"""


@dataclass(frozen=True, slots=True, config=STRICT)
class ReplayCheck:
    """Replays beside the eager step, on inputs of other values than those it was captured with.

    The eager step ran twice on each input, then the replays did. Outputs are the last token's
    logits; differences are absolute, in their own units.
    """

    verdict: ReplayVerdict
    inputs: int
    """Inputs on which both ran."""
    varied: tuple[str, ...]
    """What differed between the inputs: tokens, lengths, positions, masks."""
    differing: int | None
    """Inputs on which they differ by more than ``tolerance``; None where they were not compared."""
    max_abs_diff: float | None
    """Largest difference of a replay from eager; None where it is no number, or not known."""
    eager_spread: float | None
    """Largest difference of eager from itself on the same input."""
    tolerance: float | None
    """Difference that eager's own spread and the dtype's rounding explain."""
    module: str | None = None
    """Qualified name of the first layer, in the order they end, whose output differs."""
    module_class: str | None = None
    """Its class."""
    source: str | None = None
    """Where its forward is defined, "file.py:12"."""
    path: str | None = None
    """That file's full path."""
    line: int | None = None
    """That line."""
    reason: str | None = None
    """Why it cannot be told, or what else is known, in a sentence."""
