"""Capture blockers of traces: looked for when a command or a limit asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from launchlens.errors import TraceError
from launchlens.plural import counted
from launchlens.records.blocking import SEARCHED, SEARCHED_IN_PART, BlockerReport
from launchlens.records.comparison import Comparison
from launchlens.records.figures import Analysis, Finding
from launchlens.records.recorder import Need
from launchlens.workflow.forecasting.savings import with_savings
from launchlens.workflow.load import Choices, Loaded, load

Report = TypeVar("Report", Analysis, Comparison)


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found in a trace, why that may not be all, and what to know of how it was done."""

    findings: tuple[Finding, ...]
    unseen: tuple[str, ...]
    notes: tuple[str, ...]


def find_blockers_of(loaded: Loaded) -> Looked:
    """What blocks the capture of a trace's steps, with source lines where it has call stacks."""
    from launchlens.blockers import search_blockers
    from launchlens.metrics import captured_parts
    from launchlens.trace import read_stacks

    has_stacks = loaded.file is not None and bool((loaded.trace.api.callchain_id >= 0).any())
    stacks = read_stacks(loaded.file) if loaded.file is not None and has_stacks else None
    steps, notes = captured_parts(loaded.trace, loaded.analysis.steps)
    search = search_blockers(loaded.trace, steps, stacks=stacks, all_threads=loaded.whole)
    findings = with_savings(loaded, search.findings, search.calls)
    if stacks is not None and stacks.note and any(f.stack for f in findings):
        notes = [stacks.note, *notes]
    return Looked(findings, (*loaded.analysis.losses, *search.unseen), tuple(notes))


def _or_without_gpu(remedy: str | None) -> str:
    """What to do about a trace without calls: ``remedy``, or what needs no trace."""
    other = (
        "list the operators that copy or wait without one: launchlens blockers --model MODEL "
        "--device cpu."
    )
    hint = f"{remedy}, or {other}" if remedy else other
    return hint[0].upper() + hint[1:]


def mark_searched(report: Report, unseen: Sequence[str]) -> Report:
    """The report with the remark that blockers were looked for: none listed means none there.

    Unless there are reasons why they are ``unseen``.
    """
    said = SEARCHED_IN_PART if unseen else SEARCHED
    return replace(report, blockers_searched=True, notes=(*report.notes, said))


def with_looked(analysis: Analysis, looked: Looked) -> Analysis:
    """The analysis with its blockers, and what a reader must know of them."""
    untold = (f"capture blockers: {why}" for why in looked.unseen if why not in analysis.losses)
    return replace(
        analysis,
        findings=looked.findings,
        blockers_unseen=looked.unseen,
        notes=(*analysis.notes, *looked.notes, *untold),
    )


def analyze(path: Path, choices: Choices, *, blockers: bool) -> Loaded:
    """One trace with its figures, and on request with its capture blockers."""
    loaded = load(path, choices)
    if not blockers:
        return loaded
    analysis = with_looked(loaded.analysis, find_blockers_of(loaded))
    return replace(loaded, analysis=mark_searched(analysis, analysis.blockers_unseen))


def report_between(path: Path, other: Path, choices: Choices) -> BlockerReport:
    """Suspects of a trace, and what a second one shows to depend on values.

    Raises:
        TraceError: a trace cannot be read, or has no CUDA API calls.
    """
    from launchlens.blockers.between import Recording, search_between
    from launchlens.metrics import captured_parts
    from launchlens.trace import read_sizes

    both = [load(one, choices) for one in (path, other)]
    report = _report(both[0])
    recordings = [
        Recording(
            one.trace,
            captured_parts(one.trace, one.analysis.steps)[0],
            read_sizes(one.file) if one.file is not None else {},
        )
        for one in both
    ]
    between = search_between(*recordings)
    label = both[1].analysis.trace.label
    if between.pairs and not between.findings:
        pairs = counted(between.pairs, "step")
        said = f"compared with {label}: {pairs} launch the same kernels with the same sizes."
    else:
        said = f"{counted(between.pairs, 'step')} compared with those of {label}, in order."
    return replace(
        report,
        findings=(*between.findings, *report.findings),
        unseen=(*report.unseen, *between.unseen),
        notes=(said, *report.notes),
    )


def report_blockers(path: Path, choices: Choices) -> BlockerReport:
    """Suspects of a trace, without any model.

    Raises:
        TraceError: the trace cannot be read, or has no CUDA API calls.
    """
    return _report(load(path, choices))


def _report(loaded: Loaded) -> BlockerReport:
    analysis = loaded.analysis
    if not analysis.trace.api_calls:
        raise TraceError(
            f"{analysis.trace.file}: the trace has no CUDA API calls, in which blockers show.",
            hint=_or_without_gpu(loaded.trace.recorder.remedies.get(Need.CALLS)),
        )
    looked = find_blockers_of(loaded)
    return BlockerReport(
        schema="launchlens.blockers/1",
        label=analysis.trace.label,
        phases=tuple(dict.fromkeys(s.phase for s in analysis.steps)),
        steps=len(analysis.steps),
        trace=analysis.trace,
        findings=looked.findings,
        notes=(*looked.notes, *analysis.trace.warnings, *analysis.notes),
        captured=any(s.graph_launches for s in analysis.steps),
        unseen=looked.unseen,
    )
