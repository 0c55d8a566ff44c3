"""Budget files held against traces, for ``launchlens check`` and the pytest plug-in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from launchlens.comparison import side_figures
from launchlens.errors import TraceError
from launchlens.records.figures import Analysis
from launchlens.records.limits import LimitReport
from launchlens.records.variant import VariantFacts
from launchlens.workflow.load import Choices
from launchlens.workflow.sides import load_side, side_of_trace, with_blockers


def hold_budget(
    budget: Path,
    traces: Sequence[str | Path],
    choices: Choices,
    *,
    baseline: str | Path | None = None,
    model: str | None = None,
    runs: Path | None = None,
) -> LimitReport:
    """Hold traces against the limits of a budget file.

    Args:
        budget: the file.
        traces: traces or RUN:VARIANTs; a `Path` is always a trace.
        choices: how steps are chosen.
        baseline: an earlier one, to say what changed where a limit is broken.
        model: the model's name, matched against the budget's patterns beside each trace's.
        runs: folder of stored runs.

    Raises:
        UsageError: a wrong budget, or one that has no limits for a trace.
        TraceError: a trace cannot be read, or a variant of a run left none.
    """
    from launchlens.limits import ask_for_blockers
    from launchlens.limits.budget import check_budget, read_budget
    from launchlens.records.limits import LimitReport, TraceLimits

    read = read_budget(budget)
    blockers = ask_for_blockers(read.limits)
    earlier = _analyze(baseline, choices, runs, blockers=blockers)[0] if baseline else None
    held = []
    for named in traces:
        analysis, facts = _analyze(named, choices, runs, blockers=blockers)
        results = check_budget(read, analysis, model=model, facts=facts, baseline=earlier)
        passed = all(result.passed for result in results)
        held.append(TraceLimits(analysis.trace.label, passed, tuple(results)))
    return LimitReport(budget=str(budget), held=all(t.held for t in held), traces=tuple(held))


def _analyze(
    named: str | Path, choices: Choices, runs: Path | None, *, blockers: bool
) -> tuple[Analysis, VariantFacts]:
    """Figures under the name that the side has, with its blockers; and what is known beyond."""
    if isinstance(named, Path):
        side = side_of_trace(named, choices)
    else:
        side = load_side(named, choices, runs)
    if blockers:
        side = with_blockers(side)
    given = side.input
    if given.analysis is None:
        failure = given.facts.failure
        said = f": {failure.error_line}" if failure else "."
        raise TraceError(f"{named} has no trace to hold limits against{said}")
    trace = replace(given.analysis.trace, label=given.label)
    summary = tuple(
        replace(group, metrics={**group.metrics, **more.metrics})
        for group, more in zip(given.analysis.summary, side_figures(given), strict=True)
    )
    analysis = replace(given.analysis, trace=trace, summary=summary, findings=given.findings)
    return analysis, given.facts
