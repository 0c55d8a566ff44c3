"""``launchlens check BUDGET.toml TRACE…``: limits that are kept in a file, held on traces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from launchlens.cli.options import (
    NsysOption,
    PhaseChoice,
    PhaseOption,
    RunsOption,
    SkipOption,
    StepOption,
    WholeOption,
)
from launchlens.cli.output import write
from launchlens.errors import EXIT_THRESHOLD
from launchlens.workflow.load import Choices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from launchlens.records.limits import LimitResult


def check(
    budget: Annotated[Path, typer.Argument(metavar="BUDGET.toml", help="The file with limits.")],
    traces: Annotated[list[str], typer.Argument(metavar="TRACE", help="Traces, or RUN:VARIANT.")],
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", metavar="TRACE", help="An earlier one, to say what has changed."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="The model's name, for patterns of the budget."),
    ] = None,
    phase: PhaseOption = PhaseChoice.all,
    step: StepOption = None,
    skip: SkipOption = 0,
    whole: WholeOption = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="List the limits that hold too.")
    ] = False,
    runs: RunsOption = None,
    nsys: NsysOption = None,
) -> None:
    """Hold traces against the limits of a budget file; end with 3 if any does not hold.

    A limit on a figure that the trace cannot tell does not hold. A trace that no limit is for is
    an error.
    """
    from launchlens.limits.budget import check_budget, read_budget
    from launchlens.workflow.budgets import analyze_for

    limits = read_budget(budget)
    choices = Choices(phase.value, step, skip, whole, nsys)
    earlier = analyze_for(limits, baseline, choices, runs)[0] if baseline else None
    passed = True
    for name in traces:
        analysis, facts = analyze_for(limits, name, choices, runs)
        results = check_budget(limits, analysis, model=model, facts=facts, baseline=earlier)
        write(_render(analysis.trace.label, results, verbose=verbose), None)
        passed = passed and all(result.passed for result in results)
    if not passed:
        raise typer.Exit(EXIT_THRESHOLD)


def _render(label: str, results: Sequence[LimitResult], *, verbose: bool) -> str:
    """A line for the trace, then one for each limit that does not hold."""
    from launchlens.records.limits import LimitReport, TraceLimits
    from launchlens.render import write as write_report
    from launchlens.report.limits import limits_document

    held = all(result.passed for result in results)
    trace = TraceLimits(label, held, tuple(results))
    report = LimitReport(budget="", held=held, traces=(trace,))
    return write_report(limits_document(report, held_too=verbose), "terminal")
