"""``launchlens export``: figures and steps for other tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from launchlens.cli import options
from launchlens.cli.output import save
from launchlens.cli.standard_input import received
from launchlens.errors import TraceError, UsageError
from launchlens.streams import note
from launchlens.workflow.load import Choices

if TYPE_CHECKING:
    from launchlens.workflow.sides import LoadedSide


def export(
    traces: Annotated[
        list[str], typer.Argument(metavar="TRACE", help="A trace, RUN:VARIANT, or -.")
    ],
    perfetto: Annotated[
        Path | None,
        typer.Option(
            "--perfetto",
            metavar="FILE",
            help="A step for ui.perfetto.dev; of several traces one each, side by side.",
        ),
    ] = None,
    index: Annotated[
        int | None,
        typer.Option(
            "--index",
            metavar="N",
            min=0,
            help="The step for --perfetto, as analyze numbers them from 0; else the one whose "
            "window is the median.",
        ),
    ] = None,
    parquet: Annotated[
        Path | None,
        typer.Option(
            "--parquet",
            metavar="FILE",
            help="Every figure of every step, a row a step; of several traces their medians, a row "
            "for each phase, metric and side.",
        ),
    ] = None,
    github_benchmark: Annotated[
        Path | None,
        typer.Option(
            "--github-benchmark",
            metavar="FILE",
            help="Medians for github-action-benchmark (customSmallerIsBetter), in ms and %.",
        ),
    ] = None,
    bigger_is_better: Annotated[
        bool,
        typer.Option(
            "--bigger-is-better",
            help="In --github-benchmark give throughput instead (customBiggerIsBetter).",
        ),
    ] = False,
    phase: options.PhaseOption = options.PhaseChoice.all,
    step: options.StepOption = None,
    skip: options.SkipOption = 0,
    whole: options.WholeOption = False,
    runs: options.RunsOption = None,
    nsys: options.NsysOption = None,
    timeout: options.ExportTimeoutOption = None,
) -> None:
    """Write steps for ui.perfetto.dev, or figures for other tools.

    Those are data frames (Parquet) and histories of github-action-benchmark.
    """
    from launchlens.workflow.sides import load_sides

    if not (perfetto or parquet or github_benchmark):
        raise UsageError(
            "export needs to be told what to write.",
            hint="Add --perfetto, --parquet or --github-benchmark.",
        )
    if step is not None and step.isdigit():
        raise UsageError(
            f"--step {step} would be a pattern for names of ranges, as in every command.",
            hint=f"The number of a step is --index {step}.",
        )
    if index is not None and not perfetto:
        raise UsageError("--index chooses the step for --perfetto.", hint="Add --perfetto FILE.")
    if bigger_is_better and not github_benchmark:
        raise UsageError("--bigger-is-better is for --github-benchmark.", hint="Add that too.")
    choices = Choices(phase.value, step, skip, whole, nsys, timeout)
    sides = load_sides(received(traces), choices, runs)
    if perfetto:
        save(_perfetto(sides, index).encode(), perfetto, option="--perfetto")
    if parquet:
        save(_parquet(sides), parquet, option="--parquet")
    if github_benchmark:
        text = _benchmark(sides, bigger_is_better=bigger_is_better)
        save(text.encode(), github_benchmark, option="--github-benchmark")


def _parquet(sides: Sequence[LoadedSide]) -> bytes:
    from launchlens.comparison import tabulate
    from launchlens.export.feeds import render_analysis_parquet, render_comparison_parquet
    from launchlens.workflow.timelines import require_trace

    if len(sides) == 1:
        return render_analysis_parquet(require_trace(sides[0]).analysis)
    return render_comparison_parquet(tabulate([side.input for side in sides]))


def _benchmark(sides: Sequence[LoadedSide], *, bigger_is_better: bool) -> str:
    """The feed; github-action-benchmark takes an empty one for an error of its own.

    Raises:
        TraceError: there is nothing to put into it.
    """
    from launchlens.comparison import tabulate
    from launchlens.export.feeds import render_benchmark_json

    text = render_benchmark_json(
        tabulate([side.input for side in sides]), bigger_is_better=bigger_is_better
    )
    if text.strip() == "[]":
        if not bigger_is_better:
            raise TraceError("None of the figures is known, so there is nothing to export.")
        raise TraceError(
            "There is no throughput to export.",
            hint="It is measured in runs: launchlens profile --concurrency.",
        )
    return text


def _perfetto(sides: Sequence[LoadedSide], index: int | None) -> str:
    from launchlens.export.perfetto import render_perfetto
    from launchlens.report.words import plain
    from launchlens.workflow.timelines import timeline_of_step

    timelines = []
    for side in sides:
        timeline, step, several = timeline_of_step(side, index)
        of = f"{side.input.label}: " if len(sides) > 1 else ""
        if several:
            note(f"{of}step {index} ran on several devices: {step.device} is exported")
        note(f"{of}step {step.index} ({step.phase}): {plain(step.range)}")
        timelines.append(timeline)
    return render_perfetto(timelines)
