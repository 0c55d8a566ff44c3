"""``launchlens forecast TRACE``: what a step would take as a CUDA graph, or with less in it."""

from __future__ import annotations

from typing import Annotated

import typer

from launchlens.cli import options
from launchlens.cli.output import check_output, choose_format, show
from launchlens.errors import UsageError
from launchlens.workflow.load import Choices


def forecast(
    trace: Annotated[
        str | None,
        typer.Argument(
            metavar="TRACE",
            help="An eager trace, or RUN:VARIANT of a stored run, such as x:eager.",
        ),
    ] = None,
    score: Annotated[
        bool,
        typer.Option(
            "--score",
            help="No forecast, but how well those of stored runs held, which were written down "
            "before the captured step was measured.",
        ),
    ] = False,
    untraced_ms: Annotated[
        list[str] | None,
        typer.Option(
            "--untraced-ms",
            metavar="MS",
            help="What the eager step takes without a profiler, in milliseconds; PHASE:MS where "
            "the trace has several phases, once for each.",
        ),
    ] = None,
    break_at: Annotated[
        str | None,
        typer.Option(
            "--break-at",
            metavar="REGEX",
            help="Kernels, or NVTX ranges, that stay between graphs: attention, if none is named.",
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            metavar="RULE",
            help="As if what this rule of blockers finds were gone: copies, with what waits for "
            "them. May be given several times.",
        ),
    ] = None,
    idle_host: Annotated[
        float | None,
        typer.Option(
            "--idle-host",
            metavar="PART",
            min=0.0,
            max=1.0,
            help="As if the CPU's work took this part of its time: 0.5 is twice as fast, 0 free.",
        ),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option("--within", metavar="REGEX", help="NVTX ranges in which --idle-host holds."),
    ] = None,
    phase: options.PhaseOption = options.PhaseChoice.all,
    step: options.StepOption = None,
    skip: options.SkipOption = 0,
    nsys: options.NsysOption = None,
    runs: options.RunsOption = None,
    report_format: Annotated[str | None, options.format_option("forecast")] = None,
    output: options.OutputOption = None,
    verbose: options.VerboseOption = False,
) -> None:
    """Tell from an eager trace what a CUDA graph would bring.

    Each phase's step as one graph, as graphs broken at attention, and with half its launches.
    """
    from launchlens.report.forecast import forecast_document
    from launchlens.store import calibration_file, runs_root
    from launchlens.workflow.forecasting import Wanted, forecast_trace, load_eager, parse_times

    if score == (trace is not None):
        raise UsageError(
            "forecast needs either a trace or --score.",
            hint="launchlens forecast TRACE, or launchlens forecast --score.",
        )
    if within is not None and idle_host is None:
        raise UsageError("--within says where --idle-host holds: give it too.")
    check_output(output)
    chosen = choose_format("forecast", report_format, output)
    if trace is None:
        from launchlens.report.score import score_document
        from launchlens.workflow.forecasting.score import score_runs

        show(score_document(score_runs(runs)), chosen, output, verbose=verbose)
        return
    times = parse_times(untraced_ms or ())
    choices = Choices(phase.value, step, skip, nsys=nsys)
    loaded, known = load_eager(trace, choices, runs)
    wanted = Wanted(
        break_at=break_at,
        without=tuple(without or ()),
        idle_host=idle_host,
        within=within,
        untraced=known,
        given=times,
        constants=calibration_file(runs_root(runs)),
    )
    made = forecast_trace(loaded, wanted)
    show(forecast_document(made), chosen, output, verbose=verbose)
