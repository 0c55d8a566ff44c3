"""``launchlens diff BASELINE CANDIDATE…``: traces or run variants side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from launchlens.cli.options import (
    FailOnOption,
    Format,
    FormatOption,
    NsysOption,
    OutputOption,
    PhaseChoice,
    PhaseOption,
    RunsOption,
    SkipOption,
    StepOption,
    VerboseOption,
    WholeOption,
)
from launchlens.cli.output import write
from launchlens.workflow.load import Choices


def diff(
    baseline: Annotated[
        str, typer.Argument(metavar="BASELINE", help="A trace, or RUN:VARIANT of a stored run.")
    ],
    candidates: Annotated[
        list[str], typer.Argument(metavar="CANDIDATE...", help="What to compare with it.")
    ],
    report_format: FormatOption = Format.terminal,
    output: OutputOption = None,
    phase: PhaseOption = PhaseChoice.all,
    step: StepOption = None,
    skip: SkipOption = 0,
    whole: WholeOption = False,
    verbose: VerboseOption = False,
    fail_on: FailOnOption = None,
    runs: RunsOption = None,
    nsys: NsysOption = None,
) -> None:
    """Compare a baseline with candidates: launches, GPU idle, times, kernels, with verdicts."""
    from launchlens.cli.gating import (
        SEARCHED,
        asks_for_blockers,
        check_comparison,
        parse_conditions,
    )
    from launchlens.cli.reports import render_report
    from launchlens.comparison import compare
    from launchlens.workflow.sides import load_sides

    conditions = parse_conditions(fail_on)
    choices = Choices(phase.value, step, skip, whole, nsys)
    blockers = asks_for_blockers(conditions)
    sides = load_sides([baseline, *candidates], choices, runs, blockers=blockers)
    comparison = compare([side.input for side in sides])
    if blockers:
        comparison = replace(comparison, notes=(*comparison.notes, SEARCHED))
    write(render_report(comparison, sides, report_format, output, verbose=verbose), output)
    check_comparison(conditions, comparison)
