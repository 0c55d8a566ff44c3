"""What figures need of a recording, and how its recorder is made to give it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from launchlens.records.metric import Flaw


class Need(Enum):
    """What figures need of a trace and a recording may lack."""

    CALLS = "calls"
    """The CUDA calls of the program."""
    EVENTS = "events"
    """GPU operations that calls submitted, or calls at all; lost, or not recorded."""
    RANGES = "ranges"
    """Ranges that mark the steps."""
    GRAPH_WORK = "graph work"
    """What graph launches ran, in any form."""
    GRAPH_NODES = "graph nodes"
    """The single operations of a graph, where the trace has it as one span."""
    ONE_GRAPH_TRACING = "one graph tracing"
    """All graphs traced one way, as nodes or as spans."""
    GPU_NUMBERS = "GPU numbers"
    """Which GPU each device number of a process is."""
    GRAPH_DEVICES = "graph devices"
    """The device of each graph, where a process uses several."""


@dataclass(frozen=True, slots=True)
class Recorder:
    """What the program that made a trace can do about what the trace lacks.

    A trace format says it (`Trace.recorder`), in its own options; sentences about unknown figures
    end with it. What a format cannot be made to record has no remedy.
    """

    remedies: Mapping[Need, str] = field(default_factory=dict)
    """How to get what is missing: "record it again with …", lower case, without a full stop."""
    reasons: Mapping[Need, str] = field(default_factory=dict)
    """Why this recording lacks it, where the recorder's version or mode tells."""
    own_domains: frozenset[str] = frozenset()
    """NVTX domains of what the recorder itself writes, which no program asked for."""
    lacks: frozenset[Flaw] = frozenset()
    """What every recording of its lacks; `TraceInfo.warnings` say so."""

    def advise(self, need: Need) -> str | None:
        """The remedy as a sentence."""
        remedy = self.remedies.get(need)
        return f"{remedy[0].upper()}{remedy[1:]}." if remedy else None

    def because(self, need: Need) -> str:
        """The reason as words in parentheses that follow others; empty without one."""
        reason = self.reasons.get(need)
        return f" ({reason})" if reason else ""
