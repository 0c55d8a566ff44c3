"""``launchlens export``: figures and steps for other tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from launchlens.cli import options
from launchlens.cli.output import save
from launchlens.errors import TraceError, UsageError
from launchlens.streams import note
from launchlens.workflow.load import Choices

if TYPE_CHECKING:
    from launchlens.workflow.sides import LoadedSide


def export(
    traces: Annotated[list[str], typer.Argument(metavar="TRACE", help="A trace, or RUN:VARIANT.")],
    perfetto: Annotated[
        Path | None,
        typer.Option("--perfetto", metavar="OUT.json", help="One step for ui.perfetto.dev."),
    ] = None,
    step: Annotated[
        int | None,
        typer.Option(
            "--step",
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
            metavar="OUT",
            help="Every figure of every step, a row a step; of several traces their medians, a row "
            "for each phase, metric and side.",
        ),
    ] = None,
    github_benchmark: Annotated[
        Path | None,
        typer.Option(
            "--github-benchmark",
            metavar="OUT.json",
            help="Medians for github-action-benchmark (customSmallerIsBetter); here several "
            "traces may be named.",
        ),
    ] = None,
    bigger_is_better: Annotated[
        bool,
        typer.Option(
            "--bigger-is-better",
            help="In --github-benchmark give throughput instead (customBiggerIsBetter).",
        ),
    ] = False,
    ranges: Annotated[
        str | None,
        typer.Option(
            "--ranges", metavar="REGEX", help="Ranges that are steps, as --step of analyze."
        ),
    ] = None,
    phase: options.PhaseOption = options.PhaseChoice.all,
    skip: options.SkipOption = 0,
    whole: options.WholeOption = False,
    runs: options.RunsOption = None,
    nsys: options.NsysOption = None,
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
    if len(traces) > 1 and perfetto:
        raise UsageError("--perfetto takes one trace.", hint="Export them in turn.")
    if step is not None and not perfetto:
        raise UsageError("--step chooses the step for --perfetto.", hint="Add --perfetto OUT.json.")
    if bigger_is_better and not github_benchmark:
        raise UsageError("--bigger-is-better is for --github-benchmark.", hint="Add that too.")
    choices = Choices(phase.value, ranges, skip, whole, nsys)
    sides = load_sides(traces, choices, runs)
    if perfetto:
        save(_perfetto(sides[0], step).encode(), perfetto, option="--perfetto")
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


def _perfetto(side: LoadedSide, number: int | None) -> str:
    from launchlens.export.perfetto import render_perfetto
    from launchlens.report.words import plain
    from launchlens.workflow.timelines import timeline_of_step

    timeline, step, several = timeline_of_step(side, number)
    if several:
        note(f"step {number} ran on several devices: {step.device} is exported")
    note(f"step {step.index} ({step.phase}): {plain(step.range)}")
    return render_perfetto(timeline)
