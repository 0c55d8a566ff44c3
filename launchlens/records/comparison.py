"""A comparison of a baseline with candidates: the one record every renderer draws from."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Literal

from launchlens.records.figures import (
    Analysis,
    ApiRow,
    Finding,
    FollowerRow,
    GapBin,
    KernelRow,
    Phase,
    TraceInfo,
    Verdict,
)
from launchlens.records.metric import Bound
from launchlens.records.variant import VariantFacts

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class SideInput:
    """One side handed to `compare`: traces may be missing (a variant that failed).

    ``analysis`` gives counts and kernels; ``timing`` (optional) is a whole-graph trace of the
    same variant, which gives times. ``reference`` is how the user named the side.
    """

    label: str
    analysis: Analysis | None = None
    timing: Analysis | None = None
    facts: VariantFacts = field(default_factory=VariantFacts)
    findings: tuple[Finding, ...] = ()
    blockers_unseen: tuple[str, ...] = ()
    reference: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One side's value of a metric."""

    value: float | int | None
    """Median of the metric on this side; null if unknown."""
    ci_low: float | int | None = None
    """Lower end of the 95% interval of the median."""
    ci_high: float | int | None = None
    """Upper end."""
    n: int = 0
    """Steps or samples behind it."""
    change: float | None = None
    """Value less the baseline's; null where its sign is not known."""
    relative: float | None = None
    """Change over the baseline's value."""
    verdict: Verdict = "neutral"
    """Judgement of the change; `incomparable`: one of them is only a bound, and the true change may
    be of either sign.
    """
    source: str = "trace"
    """Where it comes from: `trace`, `graph trace` or `untraced`."""
    note: str | None = None
    """Remark on the value, such as why there is none."""
    failed: bool = False
    """Whether the variant failed, so that it has no figure to be looked for."""
    bound: Bound | None = None
    """`lower` or `upper` where the value is only a bound of the true one."""
    change_bound: Bound | None = None
    """The same of the change."""


@dataclass(frozen=True, slots=True)
class Row:
    """A metric over all sides."""

    metric: str
    """Name of the metric (definitions.md)."""
    title: str
    """Its name in reports."""
    unit: str
    """`count`, `ns`, `fraction`, `bytes` or `per_s`."""
    direction: int
    """−1: less is better, 1: more is better, 0: neither."""
    threshold: float
    """Smallest difference that matters: in `unit`, for times and sizes relative to the baseline."""
    cells: tuple[Cell, ...]
    """One for each side, baseline first."""
    headline: bool
    """Whether short reports show it."""
    note: str | None = None
    """Remark that must stand beside the row."""


@dataclass(frozen=True, slots=True)
class KernelDiff:
    """A kernel whose count per step differs; times per step."""

    name: str
    """Kernel name."""
    baseline_count: float
    """Runs in each step of the baseline."""
    candidate_count: float
    """Runs in each step of the candidate."""
    baseline_ns: int
    """Time in each step of the baseline."""
    candidate_ns: int
    """Time in each step of the candidate."""
    baseline_bound: Bound | None = None
    """`lower` where the time of some of the baseline's runs is not known."""
    candidate_bound: Bound | None = None
    """The same of the candidate's."""


@dataclass(frozen=True, slots=True)
class KernelChanges:
    """Kernels of one candidate beside the baseline's."""

    candidate: str
    """Side that is compared with the baseline."""
    known: bool
    """Whether the kernels of both sides are known."""
    reason: str | None
    """Why not."""
    added: tuple[KernelDiff, ...] = ()
    """Kernels the baseline does not run."""
    removed: tuple[KernelDiff, ...] = ()
    """Kernels only the baseline runs."""
    changed: tuple[KernelDiff, ...] = ()
    """Kernels that both run, and not equally often."""
    count_change: float | None = None
    """Kernels of a step, more than the baseline's; negative: fewer."""
    time_change_ns: int | None = None
    """Time in each step of the kernels that came, less that of those that went."""
    time_bound: Bound | None = None
    """`lower` or `upper` where that is only a bound."""

    @property
    def all_diffs(self) -> tuple[KernelDiff, ...]:
        """Added, removed and changed ones."""
        return (*self.added, *self.removed, *self.changed)


@dataclass(frozen=True, slots=True)
class PhaseComparison:
    """All rows for one phase, and one (process, device) of each side."""

    phase: Phase
    """Phase of the steps compared."""
    groups: tuple[str, ...]
    """Process and device on each side."""
    steps: tuple[int, ...]
    """Steps on each side."""
    dropped: tuple[int, ...]
    """Steps left out on each side."""
    rows: tuple[Row, ...]
    """One for each metric."""
    kernels: tuple[KernelChanges, ...]
    """One for each candidate."""
    bound: tuple[str | None, ...]
    """Bound of each side."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Something in which the sides are not alike."""

    what: str
    """Property that differs."""
    values: tuple[str, ...]
    """Its value on each side."""
    serious: bool
    """Whether it makes the comparison unfair."""


@dataclass(frozen=True, slots=True)
class Side:
    """A side of a comparison as reported."""

    label: str
    """Name of the side."""
    short: str
    """The label without what all labels begin with."""
    trace: TraceInfo | None
    """The trace that gives counts."""
    timing_trace: TraceInfo | None
    """The whole-graph trace that gives times, if there is one."""
    facts: VariantFacts
    """What is known beyond the trace."""
    findings: tuple[Finding, ...]
    """Blockers of CUDA graph capture."""
    gap_histogram: tuple[GapBin, ...] = ()
    """Gaps by length, first group."""
    kernels: tuple[KernelRow, ...] = ()
    """Kernels by name, first group."""
    api_calls: tuple[ApiRow, ...] = ()
    """API calls by function, first group."""
    gap_followers: tuple[FollowerRow, ...] = ()
    """After what the GPU stood idle, first group."""
    losses: tuple[str, ...] = ()
    """What the recorder says of events that it lost, where that makes counts lower bounds."""
    blockers_unseen: tuple[str, ...] = ()
    """Why blockers may be there that the trace does not show, in sentences; empty: none can."""
    captured: bool | None = None
    """Whether its steps launch CUDA graphs; null without a trace."""
    reference: str | None = None
    """How it was named on the command line."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A baseline compared with candidates: the JSON object of ``launchlens diff --format json``."""

    schema: Literal["launchlens.comparison/1"]
    """Name and version of this layout."""
    baseline: Side
    """The side others are compared with."""
    candidates: tuple[Side, ...]
    """The other sides."""
    phases: tuple[PhaseComparison, ...]
    """All rows, for each phase and each process and device."""
    differences: tuple[Difference, ...]
    """What is not alike on all sides."""
    notes: tuple[str, ...]
    """What makes figures doubtful, in sentences."""
    title: str | None = None
    """What is compared."""
    remarks: tuple[str, ...] = ()
    """What else a reader should know of the sides, in sentences."""
    blockers_searched: bool = False
    """Whether blockers were looked for, without which no findings say nothing."""

    @property
    def sides(self) -> tuple[Side, ...]:
        """Baseline and candidates in order."""
        return (self.baseline, *self.candidates)

    def frame(self) -> pd.DataFrame:
        """All rows as a DataFrame: a row for each (phase, metric, side)."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"phase": p.phase, "groups": p.groups[i], "metric": row.metric, "side": side.label}
                | {"unit": row.unit}
                | asdict(cell)
                for p in self.phases
                for row in p.rows
                for i, (side, cell) in enumerate(zip(self.sides, row.cells, strict=True))
            ]
        )
