"""``launchlens diff BASELINE CANDIDATE…``: traces or run variants side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from launchlens.cli.inputs import Choices
from launchlens.cli.options import (
    FailOnOption,
    Format,
    FormatOption,
    NsysOption,
    OutputOption,
    PhaseChoice,
    PhaseOption,
    SkipOption,
    StepOption,
    VerboseOption,
    WholeOption,
)
from launchlens.cli.output import write


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
    runs: Annotated[
        Path | None, typer.Option("--runs", help="Folder of stored runs.", envvar="LAUNCHLENS_RUNS")
    ] = None,
    nsys: NsysOption = None,
) -> None:
    """Compare a baseline with candidates: launches, GPU idle, times, kernels, with verdicts."""
    from launchlens.cli.gating import check_comparison, parse_conditions
    from launchlens.cli.reports import render_report
    from launchlens.cli.sides import load_sides
    from launchlens.compare import compare

    conditions = parse_conditions(fail_on)
    choices = Choices(phase.value, step, skip, whole, nsys)
    sides = load_sides([baseline, *candidates], choices, runs)
    comparison = compare([side.input for side in sides])
    write(render_report(comparison, sides, report_format, output, verbose=verbose), output)
    check_comparison(conditions, comparison)
