"""``launchlens buckets``: which sizes a server should capture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from launchlens.cli import options
from launchlens.cli.output import check_output, choose_format, show
from launchlens.workflow.load import Choices


def buckets(
    steps: Annotated[
        Path,
        typer.Argument(
            metavar="STEPS", help="A server's trace, or a CSV file with the columns size,count."
        ),
    ],
    curves: Annotated[
        Path,
        typer.Option(
            "--curves",
            metavar="FILE",
            help="CSV of measured points: size,captured_ms,eager_ms, and memory_mib,capture_s if "
            "they are to be limited.",
        ),
    ],
    beside: Annotated[
        str | None,
        typer.Option(
            "--beside", metavar="SIZES", help="Sizes to compare with, as 1,2,4; else vLLM's own."
        ),
    ] = None,
    most: Annotated[
        int | None, typer.Option("--most", metavar="N", min=0, help="So many sizes at most.")
    ] = None,
    memory_mib: Annotated[
        float | None,
        typer.Option("--memory-mib", metavar="MIB", min=0, help="So much graph memory at most."),
    ] = None,
    capture_s: Annotated[
        float | None,
        typer.Option("--capture-s", metavar="SECONDS", min=0, help="So long a capture at most."),
    ] = None,
    phase: options.PhaseOption = options.PhaseChoice.all,
    step: options.StepOption = None,
    report_format: Annotated[str | None, options.format_option("buckets")] = None,
    output: options.OutputOption = None,
) -> None:
    """Choose the sizes that a server should capture.

    The exact best choice for these steps, beside the engine's own, as options of vLLM, SGLang and
    TensorRT-LLM; or that the default is fine.
    """
    from launchlens.forecast.buckets import Limits
    from launchlens.report.buckets import buckets_document
    from launchlens.workflow.buckets import choose_buckets, parse_sizes, read_curves, read_sizes

    check_output(output)
    chosen = choose_format("buckets", report_format, output)
    compared = parse_sizes(beside)
    limits = Limits(
        most,
        None if memory_mib is None else memory_mib * (1 << 20),
        None if capture_s is None else capture_s * 1e9,
    )
    measured = read_curves(curves)
    counts = read_sizes(steps, Choices(phase.value, step))
    show(buckets_document(choose_buckets(counts, measured, limits, compared)), chosen, output)
