"""Figures of one trace: steps, groups of steps, findings. Names are those of the JSON output.

Times are integers in nanoseconds, fractions lie between 0 and 1, unknown is None.
"""

from launchlens.records.figures.analysis import Analyses, Analysis
from launchlens.records.figures.finding import Finding
from launchlens.records.figures.gaps import Gaps
from launchlens.records.figures.group import ApiRow, FollowerRow, GapBin, Group, KernelRow, Stat
from launchlens.records.figures.serving import (
    BetweenSteps,
    EngineLog,
    LogReason,
    RangeCost,
    ReplayState,
)
from launchlens.records.figures.step import Step
from launchlens.records.figures.trace import Diagnostic, TraceInfo
from launchlens.records.figures.words import PHASES, BoundBy, GraphTracing, Phase, Verdict

__all__ = [
    "PHASES",
    "Analyses",
    "Analysis",
    "ApiRow",
    "BetweenSteps",
    "BoundBy",
    "Diagnostic",
    "EngineLog",
    "Finding",
    "FollowerRow",
    "GapBin",
    "Gaps",
    "GraphTracing",
    "Group",
    "KernelRow",
    "LogReason",
    "Phase",
    "RangeCost",
    "ReplayState",
    "Stat",
    "Step",
    "TraceInfo",
    "Verdict",
]
