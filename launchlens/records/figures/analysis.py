"""What one trace says."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from launchlens.records.figures.finding import Finding
from launchlens.records.figures.group import Group
from launchlens.records.figures.serving import BetweenSteps, EngineLog, RangeCost, ReplayState
from launchlens.records.figures.step import Step
from launchlens.records.figures.trace import TraceInfo

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Analysis:
    """What one trace says: the JSON object of ``launchlens analyze --format json``."""

    schema: Literal["launchlens.analysis/1"]
    """Name and version of this layout."""
    trace: TraceInfo
    """Where the trace comes from."""
    steps: tuple[Step, ...]
    """Every step in start order; a step that used several devices has a record for each."""
    summary: tuple[Group, ...]
    """Figures over the steps of each phase, process and device."""
    skipped: int
    """Steps left out by `--skip`, all groups together."""
    notes: tuple[str, ...] = ()
    """What to know before trusting the figures, in sentences."""
    findings: tuple[Finding, ...] = ()
    """Suspected or confirmed blockers of CUDA graph capture."""
    losses: tuple[str, ...] = ()
    """What the recorder says of events that it lost, where that makes counts lower bounds."""
    empty_ranges: int = 0
    """Ranges named as steps that hold none: no request, no length, or no CUDA call."""
    blockers_searched: bool = False
    """Whether blockers were looked for, without which no findings say nothing."""
    blockers_unseen: tuple[str, ...] = ()
    """Why blockers may be there that the trace does not show, in sentences; empty: none can."""
    replays: tuple[ReplayState, ...] = ()
    """How the steps ran, by phase, process and number of tokens."""
    between: tuple[BetweenSteps, ...] = ()
    """What lies between steps, by process, phase of the step before, and device."""
    ranges: tuple[RangeCost, ...] = ()
    """NVTX ranges inside the steps, each behind the one around it, the costliest first."""
    engine_log: EngineLog | None = None
    """What the engine's log says of its graphs; null without a log."""

    def steps_frame(self) -> pd.DataFrame:
        """Every figure of every step as a DataFrame, a row a step (gaps as ``gaps_ns.host`` …)."""
        import pandas as pd

        return pd.json_normalize([asdict(step) for step in self.steps])

    def summary_frame(self) -> pd.DataFrame:
        """Medians, quantiles and intervals, a row for each (phase, pid, device, metric)."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"phase": g.phase, "pid": g.pid, "device": g.device, "metric": name} | asdict(stat)
                for g in self.summary
                for name, stat in g.metrics.items()
            ]
        )


@dataclass(frozen=True, slots=True)
class Analyses:
    """Several traces: the JSON object of ``launchlens analyze A B --format json``."""

    schema: Literal["launchlens.analyses/1"]
    """Name and version of this layout."""
    analyses: tuple[Analysis, ...]
    """What each trace says, in the order in which they were named."""
