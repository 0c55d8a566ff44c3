"""What budget files are held against, for ``launchlens check`` and the pytest plug-in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from launchlens.errors import TraceError
from launchlens.workflow.sides import load_side, side_of_trace, with_blockers

if TYPE_CHECKING:
    from launchlens.limits.budget import Budget
    from launchlens.records.figures import Analysis
    from launchlens.records.measured import VariantFacts
    from launchlens.workflow.load import Choices


def analyze_for(
    budget: Budget, named: str | Path, choices: Choices, runs: Path | None = None
) -> tuple[Analysis, VariantFacts]:
    """Figures of a trace, under the name its side has, with blockers where a limit is on them.

    Args:
        budget: whose limits will be held.
        named: a trace or RUN:VARIANT; a `Path` is always a trace.
        choices: how steps are chosen.
        runs: folder of stored runs.

    Returns:
        The figures, and what is known beyond the trace.

    Raises:
        TraceError: it cannot be read, or a variant of a run left no trace.
    """
    from launchlens.limits import ask_for_blockers

    if isinstance(named, Path):
        side = side_of_trace(named, choices)
    else:
        side = load_side(named, choices, runs)
    if ask_for_blockers(budget.limits):
        side = with_blockers(side)
    given = side.input
    if given.analysis is None:
        failure = given.facts.failure
        said = f": {failure.error_line}" if failure else "."
        raise TraceError(f"{named} has no trace to hold limits against{said}")
    trace = replace(given.analysis.trace, label=given.label)
    return replace(given.analysis, trace=trace, findings=given.findings), given.facts
