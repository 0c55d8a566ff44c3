"""Variants timed untraced in further processes, in turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from launchlens.workflow.profiling.execute import Execution
    from launchlens.workflow.profiling.outcome import Outcome


def take_turns(timed: Sequence[tuple[Execution, Outcome]], rounds: int) -> None:
    """Further processes for each outcome that has untraced times: A B A B, not A A B B.

    A launch-bound step's time differs between processes by more than within one, and drifts with
    the machine; in turns both sides see the same.
    """
    for turn in range(2, rounds + 1):
        for execution, outcome in timed:
            if outcome.facts.untraced:
                execution.time_again(outcome, turn)
