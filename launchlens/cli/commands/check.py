"""``launchlens check BUDGET.toml TRACE…``: limits that are kept in a file, held on traces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from launchlens.cli import options
from launchlens.cli.output import choose_format, show
from launchlens.errors import EXIT_THRESHOLD
from launchlens.workflow.load import Choices


def check(
    budget: Annotated[Path, typer.Argument(metavar="BUDGET", help="A TOML file with limits.")],
    traces: Annotated[list[str], typer.Argument(metavar="TRACE", help="Traces, or RUN:VARIANT.")],
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", metavar="TRACE", help="An earlier one, to say what has changed."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", "-m", metavar="NAME", help="The model's name, for patterns of the budget."
        ),
    ] = None,
    phase: options.PhaseOption = options.PhaseChoice.all,
    step: options.StepOption = None,
    skip: options.SkipOption = 0,
    whole: options.WholeOption = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="List the limits that hold too.")
    ] = False,
    runs: options.RunsOption = None,
    nsys: options.NsysOption = None,
    report_format: Annotated[str | None, options.format_option("limits")] = None,
    output: options.OutputOption = None,
) -> None:
    """Hold traces against a budget file; end with 3 if a limit fails.

    A limit on a figure that the trace cannot tell does not hold. A trace that no limit is for is
    an error.
    """
    from launchlens.report.limits import limits_document
    from launchlens.workflow.budgets import hold_budget

    chosen = choose_format("limits", report_format, output)
    choices = Choices(phase.value, step, skip, whole, nsys)
    report = hold_budget(budget, traces, choices, baseline=baseline, model=model, runs=runs)
    show(limits_document(report, held_too=verbose), chosen, output)
    if not report.held:
        raise typer.Exit(EXIT_THRESHOLD)
