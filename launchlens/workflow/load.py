"""What a command line names becomes a side: a trace file, an nsys report, or RUN:VARIANT."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from launchlens.metrics.measure import MeasuredSteps
    from launchlens.records.columns import Trace
    from launchlens.records.figures import Analysis


@dataclass(frozen=True, slots=True)
class Choices:
    """How steps are chosen, as the options say."""

    phase: str = "all"
    step: str | None = None
    skip: int = 0
    whole: bool = False
    nsys: Path | None = None
    timeout_s: float | None = None
    """Limit for the export of a recorder's report; None: the usual one."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A trace with its figures, for those who draw more from it.

    ``file`` is the export it was read from, for its call stacks; None where that is gone.
    """

    trace: Trace
    analysis: Analysis
    measured: MeasuredSteps
    file: Path | None = None
    whole: bool = False
    """Its steps are whole processes, with the calls of all threads."""


def load(path: Path, choices: Choices) -> Loaded:
    """Read a trace and compute its figures; a recorder's report is exported first."""
    from launchlens.metrics import summarize_measured
    from launchlens.trace import EXPORT_TIMEOUT_S, is_report, read_report, read_trace

    exported = is_report(path) and path.is_file()
    if exported:
        timeout_s = choices.timeout_s or EXPORT_TIMEOUT_S
        trace = read_report(path, tool=choices.nsys, timeout_s=timeout_s)
    else:
        trace = read_trace(path)
    analysis, measured = summarize_measured(
        trace,
        phase=choices.phase,  # type: ignore[arg-type]
        step=choices.step,
        skip=choices.skip,
        whole=choices.whole,
    )
    return Loaded(trace, analysis, measured, None if exported else path, choices.whole)
