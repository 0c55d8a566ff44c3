"""``launchlens profile``: a model's forward steps under nsys, eager and captured, compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from launchlens.cli import options
from launchlens.cli.complete import complete_variant
from launchlens.cli.output import choose_format, end_if_broken, own_command, show
from launchlens.errors import UsageError
from launchlens.harness.variants import default_names, list_variants

if TYPE_CHECKING:
    from launchlens.records.comparison import Comparison
    from launchlens.workflow.sides import LoadedSide


def profile(
    model: options.ModelOption,
    variant: Annotated[
        list[str] | None,
        typer.Option(
            "--variant",
            metavar="NAME",
            autocompletion=complete_variant,
            help=f"{', '.join(f'{v.name} ({v.summary})' for v in list_variants())}, or "
            "module:function. May be given several times; the first is the baseline. Default: "
            f"{' and '.join(default_names(gpu=True))}, on a CPU "
            f"{' and '.join(default_names(gpu=False))} alone.",
        ),
    ] = None,
    weights: options.WeightsOption = options.Weights.random,
    text_only: options.TextOnlyOption = False,
    layers: options.LayersOption = None,
    isl: options.IslOption = 25,
    osl: Annotated[
        int | None,
        typer.Option("--osl", metavar="N", min=2, help="Output tokens: adds decode steps."),
    ] = None,
    concurrency: Annotated[
        str | None,
        typer.Option(
            "--concurrency", metavar="N,N", help="Requests batched together, as 1,4; needs --osl."
        ),
    ] = None,
    batch: options.BatchOption = 1,
    dtype: options.DtypeOption = options.Dtype.bfloat16,
    equivalence: Annotated[
        list[options.Dtype] | None,
        typer.Option(
            "--equivalence", metavar="DTYPE", help="Further dtypes in which outputs are compared."
        ),
    ] = None,
    steps: Annotated[
        int, typer.Option("--steps", metavar="N", help="Untraced steps to time (at least 20).")
    ] = 20,
    rounds: options.RoundsOption = 1,
    trace_steps: Annotated[
        int, typer.Option("--trace-steps", metavar="N", help="Steps in each trace.")
    ] = 8,
    warmup: Annotated[
        int, typer.Option("--warmup", metavar="N", min=0, help="Steps before measuring.")
    ] = 5,
    modules: Annotated[
        bool, typer.Option("--modules", help="A range around each module's forward.")
    ] = False,
    patch: options.PatchOption = None,
    graph_trace: Annotated[
        options.GraphTrace,
        typer.Option(
            "--graph-trace",
            metavar="HOW",
            help="How captured variants are traced: node, graph or both.",
        ),
    ] = options.GraphTrace.both,
    nsys_arg: Annotated[
        list[str] | None,
        typer.Option(
            "--nsys-arg",
            metavar="ARG",
            help="Passed on to nsys profile. May be given several times.",
        ),
    ] = None,
    stacks: Annotated[
        bool, typer.Option("--stacks", help="Record call stacks of synchronizing calls.")
    ] = False,
    device: options.DeviceOption = options.DeviceChoice.auto,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Seed of weights and inputs.")
    ] = 0,
    timeout: options.TimeoutOption = 900.0,
    nsys: options.NsysOption = None,
    runs: options.RunsOption = None,
    report_format: Annotated[str | None, options.format_option("comparison")] = None,
    output: options.OutputOption = None,
    verbose: options.VerboseOption = False,
    fail_on: options.FailOnOption = None,
) -> None:
    """Run a model under nsys, eager and captured, and compare them."""
    from launchlens.limits import (
        ask_for_blockers,
        check_comparison,
        parse_condition,
        require_values,
    )
    from launchlens.protocol.spec import HarnessSpec
    from launchlens.render import draws
    from launchlens.report.comparison import comparison_document
    from launchlens.workflow.profiling.plan import make_plan
    from launchlens.workflow.profiling.run import run_profile
    from launchlens.workflow.timelines import timelines_of_sides

    conditions = [parse_condition(text) for text in fail_on or ()]
    requests = parse_concurrency(concurrency, osl)
    chosen = choose_format("comparison", report_format, output)
    spec = HarnessSpec(
        model=model,
        result_path="unset",
        weights=weights.value,
        text_only=text_only,
        layers=layers,
        isl=isl,
        osl=osl,
        batch=batch,
        concurrency=requests,
        dtype=dtype.value,
        steps=steps,
        warmup=warmup,
        modules=modules,
        patch=str(patch.absolute()) if patch else None,
        seed=seed,
        equivalence_dtypes=tuple(d.value for d in equivalence or ()),
    )
    plan = make_plan(
        spec,
        variants=variant or (),
        trace_steps=trace_steps,
        graph_trace=graph_trace.value,
        device=device.value,
        nsys_args=nsys_arg or (),
        stacks=stacks,
        timeout_s=timeout,
        rounds=rounds,
        command=own_command(),
    )
    if len(plan.variants) == 1:
        require_values(conditions)

    def tell(comparison: Comparison, sides: Sequence[LoadedSide]) -> None:
        timelines = timelines_of_sides(comparison, sides) if draws(chosen) else ()
        show(comparison_document(comparison, timelines), chosen, output, verbose=verbose)

    comparison = run_profile(plan, nsys, runs, tell, blockers=ask_for_blockers(conditions))
    end_if_broken(check_comparison(conditions, comparison))


def parse_concurrency(text: str | None, osl: int | None) -> tuple[int, ...]:
    """The numbers of ``--concurrency 1,4``.

    Raises:
        UsageError: not whole numbers from 1, or no output tokens for the requests.
    """
    if text is None:
        return ()
    if osl is None:
        raise UsageError(
            "--concurrency times whole requests, which need output tokens.",
            hint="Give --osl too, as --osl 5.",
        )
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise UsageError(
            f"--concurrency {text!r} is not a list of whole numbers.", hint="Write it as 1,4,16."
        )
    return tuple(dict.fromkeys(int(part) for part in parts))
