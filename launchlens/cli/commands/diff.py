"""``launchlens diff BASELINE CANDIDATE…``: traces or run variants side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from launchlens.cli import options
from launchlens.cli.output import choose_format, end_if_broken, show
from launchlens.cli.standard_input import received
from launchlens.workflow.load import Choices


def diff(
    baseline: Annotated[
        str, typer.Argument(metavar="BASELINE", help="A trace, RUN:VARIANT, or -.")
    ],
    candidates: Annotated[
        list[str], typer.Argument(metavar="CANDIDATE", help="What to compare with it.")
    ],
    report_format: Annotated[str | None, options.format_option("comparison")] = None,
    output: options.OutputOption = None,
    bench: Annotated[
        list[Path] | None,
        typer.Option(
            "--bench",
            metavar="FILE",
            help="Result file of a serving benchmark; once for each side, in their order.",
        ),
    ] = None,
    phase: options.PhaseOption = options.PhaseChoice.all,
    step: options.StepOption = None,
    skip: options.SkipOption = 0,
    whole: options.WholeOption = False,
    sort: Annotated[
        str | None,
        typer.Option(
            "--sort",
            metavar="METRIC",
            help="Order several candidates by this metric instead of the time of the step.",
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="METRIC,…", help="Show these metrics alone, in this order."),
    ] = None,
    verbose: options.VerboseOption = False,
    fail_on: options.FailOnOption = None,
    runs: options.RunsOption = None,
    nsys: options.NsysOption = None,
    timeout: options.ExportTimeoutOption = None,
) -> None:
    """Compare traces: launches, GPU idle, times, kernels, verdicts."""
    from launchlens.limits import ask_for_blockers, check_comparison, parse_condition
    from launchlens.render import draws
    from launchlens.report.comparison import comparison_document
    from launchlens.workflow.benchmarks import with_benchmark_differences, with_benchmarks
    from launchlens.workflow.comparisons import compare_sides, parse_metrics
    from launchlens.workflow.sides import load_sides
    from launchlens.workflow.timelines import timelines_of_sides

    chosen = choose_format("comparison", report_format, output)
    order = parse_metrics("--sort", sort)[0] if sort is not None else None
    shown = parse_metrics("--only", only) if only is not None else ()
    conditions = [parse_condition(text) for text in fail_on or ()]
    choices = Choices(phase.value, step, skip, whole, nsys, timeout)
    blockers = ask_for_blockers(conditions)
    sides = load_sides(received([baseline, *candidates]), choices, runs, blockers=blockers)
    sides = with_benchmarks(sides, bench or ())
    comparison = with_benchmark_differences(compare_sides(sides, blockers=blockers))
    timelines = timelines_of_sides(comparison, sides) if draws(chosen) else ()
    document = comparison_document(comparison, timelines, sort=order, only=shown)
    show(document, chosen, output, verbose=verbose)
    end_if_broken(check_comparison(conditions, comparison))
