"""Capture blockers of traces: looked for when a command or a limit asks for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from launchlens.errors import TraceError
from launchlens.records.blocking import SEARCHED, BlockerReport
from launchlens.records.comparison import Comparison
from launchlens.records.figures import Analysis, Finding
from launchlens.records.recorder import Need
from launchlens.workflow.load import Choices, Loaded, load

Report = TypeVar("Report", Analysis, Comparison)

_WITH_STACKS = (
    "recorded with call stacks, which lengthens the calls that get one: they wait longer here."
)


def find_blockers_of(loaded: Loaded) -> tuple[Finding, ...]:
    """What blocks the capture of a trace's steps, with source lines where it has call stacks."""
    from launchlens.blockers import find_blockers
    from launchlens.trace import read_stacks

    has_stacks = loaded.file is not None and bool((loaded.trace.api.callchain_id >= 0).any())
    stacks = read_stacks(loaded.file) if loaded.file is not None and has_stacks else None
    return find_blockers(loaded.trace, loaded.analysis.steps, stacks=stacks)


def _or_without_gpu(remedy: str | None) -> str:
    """What to do about a trace without calls: ``remedy``, or what needs no trace."""
    other = (
        "list the operators that copy or wait without one: launchlens blockers --model MODEL "
        "--device cpu."
    )
    hint = f"{remedy}, or {other}" if remedy else other
    return hint[0].upper() + hint[1:]


def mark_searched(report: Report) -> Report:
    """The report with the remark that blockers were looked for: none listed means none there."""
    return replace(report, blockers_searched=True, notes=(*report.notes, SEARCHED))


def analyze(path: Path, choices: Choices, *, blockers: bool) -> Loaded:
    """One trace with its figures, and on request with its capture blockers."""
    loaded = load(path, choices)
    if not blockers:
        return loaded
    analysis = replace(loaded.analysis, findings=find_blockers_of(loaded))
    return replace(loaded, analysis=mark_searched(analysis))


def report_blockers(path: Path, choices: Choices) -> BlockerReport:
    """Suspects of a trace, without any model.

    Raises:
        TraceError: the trace cannot be read, or has no CUDA API calls.
    """
    loaded = load(path, choices)
    analysis = loaded.analysis
    if not analysis.trace.api_calls:
        raise TraceError(
            f"{path.name}: the trace has no CUDA API calls, in which blockers show.",
            hint=_or_without_gpu(loaded.trace.recorder.remedies.get(Need.CALLS)),
        )
    found = find_blockers_of(loaded)
    return BlockerReport(
        schema="launchlens.blockers/1",
        label=analysis.trace.label,
        phases=tuple(dict.fromkeys(s.phase for s in analysis.steps)),
        steps=len(analysis.steps),
        trace=analysis.trace,
        findings=found,
        notes=(
            *((_WITH_STACKS,) if any(f.stack for f in found) else ()),
            *analysis.trace.warnings,
            *analysis.notes,
        ),
        captured=any(s.graph_launches for s in analysis.steps),
    )
