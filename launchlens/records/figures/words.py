"""Words that figures are told in: phases, how graphs show in a trace, bounds, verdicts."""

from typing import Literal

GraphTracing = Literal["none", "node", "graph", "mixed", "missing"]
Phase = Literal["prefill", "decode", "mixed", "unknown"]
BoundBy = Literal["launch-bound", "gpu-bound", "sync-bound", "mixed"]
Verdict = Literal["better", "worse", "same", "inconclusive", "incomparable", "unknown", "neutral"]
PHASES: tuple[Phase, ...] = ("prefill", "mixed", "decode", "unknown")
"""The phases in the order in which reports have them."""
