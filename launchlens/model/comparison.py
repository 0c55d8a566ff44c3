"""A comparison of a baseline with candidates: the one record every renderer draws from."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Literal

from launchlens.model.figures import (
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
from launchlens.model.measured import VariantFacts

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class SideInput:
    """One side handed to `compare`: traces may be missing (a variant that failed).

    ``analysis`` gives counts and kernels; ``timing`` (optional) is a whole-graph trace of the
    same variant, which gives times.
    """

    label: str
    analysis: Analysis | None = None
    timing: Analysis | None = None
    facts: VariantFacts = field(default_factory=VariantFacts)
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """One side's value of a metric. ``source``: "trace", "graph trace" or "untraced"."""

    value: float | int | None
    ci_low: float | int | None = None
    ci_high: float | int | None = None
    n: int = 0
    change: float | None = None
    relative: float | None = None
    verdict: Verdict = "neutral"
    source: str = "trace"
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A metric over all sides. ``unit``: "count", "ns", "fraction", "bytes", "per_s".

    ``direction`` -1: less is better, +1: more is better, 0: neither. ``cells[0]`` is the
    baseline. ``threshold`` is the smallest difference that matters, in ``unit`` (for "ns" and
    "bytes" relative to the baseline).
    """

    metric: str
    title: str
    unit: str
    direction: int
    threshold: float
    cells: tuple[Cell, ...]
    headline: bool
    note: str | None = None


@dataclass(frozen=True, slots=True)
class KernelDiff:
    """A kernel whose count per step differs; times per step."""

    name: str
    baseline_count: float
    candidate_count: float
    baseline_ns: int
    candidate_ns: int


@dataclass(frozen=True, slots=True)
class KernelChanges:
    """Kernels of one candidate beside the baseline's. None known when counts are unknown."""

    candidate: str
    known: bool
    reason: str | None
    added: tuple[KernelDiff, ...] = ()
    removed: tuple[KernelDiff, ...] = ()
    changed: tuple[KernelDiff, ...] = ()


@dataclass(frozen=True, slots=True)
class PhaseComparison:
    """All rows for one phase, and one (process, device) of each side."""

    phase: Phase
    groups: tuple[str, ...]
    steps: tuple[int, ...]
    dropped: tuple[int, ...]
    rows: tuple[Row, ...]
    kernels: tuple[KernelChanges, ...]
    bound: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """Something in which the sides are not alike. ``serious``: the comparison may be unfair."""

    what: str
    values: tuple[str, ...]
    serious: bool


@dataclass(frozen=True, slots=True)
class Side:
    """A side of a comparison as reported."""

    label: str
    short: str
    trace: TraceInfo | None
    timing_trace: TraceInfo | None
    facts: VariantFacts
    findings: tuple[Finding, ...]
    gap_histogram: tuple[GapBin, ...] = ()
    kernels: tuple[KernelRow, ...] = ()
    api_calls: tuple[ApiRow, ...] = ()
    gap_followers: tuple[FollowerRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """The one record every renderer draws from; ``launchlens diff --format json``."""

    schema: Literal["launchlens.comparison/1"]
    baseline: Side
    candidates: tuple[Side, ...]
    phases: tuple[PhaseComparison, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    title: str | None = None

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
