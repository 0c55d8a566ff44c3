"""``launchlens check BUDGET.toml TRACE…``: limits that are kept in a file, held on traces."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from launchlens.cli import options
from launchlens.cli.output import choose_format, show
from launchlens.cli.standard_input import received
from launchlens.errors import EXIT_THRESHOLD, UsageError
from launchlens.workflow.load import Choices

_BUDGET_SUFFIX = ".toml"


def check(
    budget: Annotated[Path, typer.Argument(metavar="BUDGET", help="A TOML file with limits.")],
    traces: Annotated[
        list[str], typer.Argument(metavar="TRACE", help="Traces, RUN:VARIANT, or -.")
    ],
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
    timeout: options.ExportTimeoutOption = None,
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
    _check_order(budget, traces)
    traces = received(traces)
    choices = Choices(phase.value, step, skip, whole, nsys, timeout)
    report = hold_budget(budget, traces, choices, baseline=baseline, model=model, runs=runs)
    show(limits_document(report, held_too=verbose), chosen, output)
    if not report.held:
        raise typer.Exit(EXIT_THRESHOLD)


def _check_order(budget: Path, traces: list[str]) -> None:
    """Refuse a trace where the budget belongs.

    Raises:
        UsageError: the first argument is a trace, or a later one is named as a budget.
    """
    from launchlens.trace import is_trace

    budgets = [name for name in traces if Path(name).suffix == _BUDGET_SUFFIX]
    is_budget = budget.suffix == _BUDGET_SUFFIX
    if is_budget or not (budgets or (budget.is_file() and is_trace(budget))):
        return
    others = [str(budget), *(name for name in traces if name not in budgets)]
    words = ["launchlens", "check", *(budgets[:1] or ["BUDGET.toml"]), *others]
    raise UsageError(
        f"check takes the budget first, and {budget} is none.", hint=f"Type: {shlex.join(words)}"
    )
