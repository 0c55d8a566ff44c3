"""``launchlens analyze TRACE``: figures of one trace, for each step and phase."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from launchlens.cli import options
from launchlens.cli.output import choose_format, end_if_broken, show
from launchlens.workflow.load import Choices


def analyze(
    trace: Annotated[
        Path,
        typer.Argument(
            metavar="TRACE", help="An nsys SQLite export (plain, .gz, .xz, .zst) or .nsys-rep."
        ),
    ],
    report_format: Annotated[str | None, options.format_option("analysis")] = None,
    output: options.OutputOption = None,
    phase: options.PhaseOption = options.PhaseChoice.all,
    step: options.StepOption = None,
    skip: options.SkipOption = 0,
    whole: options.WholeOption = False,
    verbose: options.VerboseOption = False,
    log: Annotated[
        Path | None,
        typer.Option("--log", help="The engine's log: captured sizes, and why steps were not."),
    ] = None,
    fail_on: options.FailOnOption = None,
    nsys: options.NsysOption = None,
) -> None:
    """What a forward step costs: launches, GPU idle and why, kernels.

    The figures are those of one trace, by phase; --verbose has those of each step.
    """
    from launchlens.limits import ask_for_blockers, check_analysis, parse_condition, require_steps
    from launchlens.render import draws
    from launchlens.report.analysis import analysis_document
    from launchlens.report.forecast import closing_lines
    from launchlens.workflow.blockers import analyze as analyze_trace
    from launchlens.workflow.forecasting import outlook_of
    from launchlens.workflow.timelines import timelines_of

    chosen = choose_format("analysis", report_format, output)
    conditions = [parse_condition(text) for text in fail_on or ()]
    require_steps(conditions)
    choices = Choices(phase.value, step, skip, whole, nsys)
    loaded = analyze_trace(trace, choices, blockers=ask_for_blockers(conditions))
    analysis = loaded.analysis
    if log is not None:
        from launchlens.workflow.engine_log import with_engine_log

        analysis = with_engine_log(analysis, log)
    timelines = timelines_of(loaded) if draws(chosen) else ()
    closing = closing_lines(outlook_of(loaded))
    document = analysis_document(analysis, timelines, closing)
    show(document, chosen, output, verbose=verbose)
    end_if_broken(check_analysis(conditions, loaded.analysis))
