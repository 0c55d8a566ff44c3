"""``launchlens analyze TRACE``: figures of one trace, for each step and phase."""

from __future__ import annotations

from pathlib import Path
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
    SkipOption,
    StepOption,
    VerboseOption,
    WholeOption,
)
from launchlens.cli.output import end_if_broken, terminal_width, wants_color, write
from launchlens.workflow.load import Choices, Loaded


def analyze(
    trace: Annotated[
        Path, typer.Argument(help="An nsys SQLite export (plain, .gz, .xz, .zst) or .nsys-rep.")
    ],
    report_format: FormatOption = Format.terminal,
    output: OutputOption = None,
    phase: PhaseOption = PhaseChoice.all,
    step: StepOption = None,
    skip: SkipOption = 0,
    whole: WholeOption = False,
    verbose: VerboseOption = False,
    fail_on: FailOnOption = None,
    nsys: NsysOption = None,
) -> None:
    """What each forward step of one trace costs: launches, GPU idle and why, kernels, calls."""
    from launchlens.limits import ask_for_blockers, check_analysis, parse_condition
    from launchlens.workflow.blockers import analyze as analyze_trace

    conditions = [parse_condition(text) for text in fail_on or ()]
    choices = Choices(phase.value, step, skip, whole, nsys)
    loaded = analyze_trace(trace, choices, blockers=ask_for_blockers(conditions))
    write(render_loaded(loaded, report_format, output, verbose=verbose), output)
    end_if_broken(check_analysis(conditions, loaded.analysis))


def render_loaded(
    loaded: Loaded, report_format: Format, output: Path | None, *, verbose: bool
) -> str:
    """One trace as text in one of the formats."""
    from launchlens.render import write as write_report
    from launchlens.report.analysis import analysis_document
    from launchlens.workflow.timelines import timelines_of

    drawn = timelines_of(loaded) if report_format is Format.html else ()
    return write_report(
        analysis_document(loaded.analysis, drawn),
        report_format.value,
        verbose=verbose,
        width=terminal_width(),
        color=wants_color(output),
    )
