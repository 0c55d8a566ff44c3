"""``launchlens analyze TRACE``: figures of one trace, by phase; of several, a line for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from launchlens.cli import options
from launchlens.cli.output import choose_format, end_if_broken, show
from launchlens.cli.standard_input import received
from launchlens.private import without_private
from launchlens.workflow.load import Choices

if TYPE_CHECKING:
    from launchlens.records.figures import Analysis
    from launchlens.report.document import Document
    from launchlens.workflow.load import Loaded


def analyze(
    traces: Annotated[
        list[Path],
        typer.Argument(
            metavar="TRACE",
            help="nsys export, .nsys-rep, torch.profiler JSON (also packed), or -; one or more.",
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
        typer.Option(
            "--log",
            metavar="FILE",
            help="The engine's log: captured sizes, and why steps were not.",
        ),
    ] = None,
    fail_on: options.FailOnOption = None,
    nsys: options.NsysOption = None,
    timeout: options.ExportTimeoutOption = None,
) -> None:
    """What a forward step costs: launches, GPU idle and why, kernels.

    The figures are those of one trace, by phase; --verbose has those of each step. Of several
    traces there is a line for each; launchlens diff compares them.
    """
    from launchlens.errors import UsageError
    from launchlens.limits import ask_for_blockers, check_analysis, parse_condition, require_steps
    from launchlens.workflow.blockers import analyze as analyze_trace

    chosen = choose_format("analysis", report_format, output)
    conditions = [parse_condition(text) for text in fail_on or ()]
    require_steps(conditions)
    if log is not None and len(traces) > 1:
        raise UsageError("--log is about one trace.", hint="Analyze that trace alone.")
    traces = [Path(name) for name in received([str(trace) for trace in traces])]
    choices = Choices(phase.value, step, skip, whole, nsys, timeout)

    def read(trace: Path) -> Loaded:
        return analyze_trace(trace, choices, blockers=ask_for_blockers(conditions))

    if len(traces) == 1:
        loaded = read(traces[0])
        analyses = [loaded.analysis]
        document = _one(loaded, traces[0], log, chosen)
    else:
        analyses = [read(trace).analysis for trace in traces]
        document = _several(analyses, traces)
    show(document, chosen, output, verbose=verbose)
    results = []
    for one in analyses:
        whose = f"{one.trace.label}, " if len(analyses) > 1 else ""
        found = check_analysis(conditions, one)
        results += [replace(result, where=f"{whose}{result.where}") for result in found]
    end_if_broken(results)


def _one(loaded: Loaded, trace: Path, log: Path | None, chosen: str) -> Document:
    from launchlens.render import draws
    from launchlens.report.analysis import analysis_document
    from launchlens.report.forecast import closing_lines
    from launchlens.workflow.forecasting import outlook_of
    from launchlens.workflow.timelines import timelines_of

    analysis = loaded.analysis
    if log is not None:
        from launchlens.workflow.engine_log import with_engine_log

        analysis = with_engine_log(analysis, log)
    timelines = timelines_of(loaded) if draws(chosen) else ()
    closing = closing_lines(outlook_of(loaded))
    named = without_private(str(trace))
    return analysis_document(analysis, timelines, closing, named=named)


def _several(analyses: Sequence[Analysis], traces: Sequence[Path]) -> Document:
    from launchlens.records.figures import Analyses
    from launchlens.report.traces import traces_document

    found = Analyses("launchlens.analyses/1", tuple(analyses))
    return traces_document(found, [without_private(str(trace)) for trace in traces])
