"""What a command line names becomes a side: a trace file, an nsys report, or RUN:VARIANT."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from launchlens.metrics.measure import Measured
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


@dataclass(frozen=True, slots=True)
class Loaded:
    """A trace with its figures, for those who draw more from it.

    ``file`` is the export it was read from, for its call stacks; None where that is gone.
    """

    trace: Trace
    analysis: Analysis
    measured: Measured
    file: Path | None = None


def load(path: Path, choices: Choices) -> Loaded:
    """Read a trace and compute its figures; an nsys report is exported first."""
    from launchlens.metrics import summarize_measured
    from launchlens.trace import read_trace

    exported = is_report(path) and path.is_file()
    trace = _read_report(path, choices.nsys) if exported else read_trace(path)
    analysis, measured = summarize_measured(
        trace,
        phase=choices.phase,  # type: ignore[arg-type]
        step=choices.step,
        skip=choices.skip,
        whole=choices.whole,
    )
    return Loaded(trace, analysis, measured, None if exported else path)


def is_report(path: Path) -> bool:
    """Whether the name is one of an nsys report, which is exported before it is read."""
    from launchlens.trace.source import REPORT_SUFFIXES

    return path.suffix in REPORT_SUFFIXES


def _read_report(path: Path, nsys: Path | None) -> Trace:
    """Export a .nsys-rep into a temporary folder and read it; the report stays as it is."""
    from dataclasses import replace

    from launchlens.capture import export_sqlite, find_nsys
    from launchlens.errors import CaptureError
    from launchlens.trace import read_trace, trace_label

    try:
        found = find_nsys(nsys)
    except CaptureError:
        if nsys is not None:
            raise
        found = None
    with tempfile.TemporaryDirectory(prefix="launchlens-") as folder:
        exported = export_sqlite(path, Path(folder) / "trace.sqlite", found)
        trace = read_trace(exported)
    info = replace(trace.info, file=path.name, label=trace_label(path))
    return replace(trace, info=info)
