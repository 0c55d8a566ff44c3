"""``launchlens blockers``: why a step cannot be captured, with the source line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from launchlens.cli import options
from launchlens.cli.complete import complete_model
from launchlens.cli.output import choose_format, end_if_broken, own_command, show
from launchlens.cli.standard_input import received
from launchlens.errors import UsageError
from launchlens.workflow.load import Choices

if TYPE_CHECKING:
    from launchlens.records.blocking import BlockerReport


def blockers(
    trace: Annotated[
        Path | None,
        typer.Argument(metavar="TRACE", help="An eager trace, or -; its suspects need no model."),
    ] = None,
    other: Annotated[
        Path | None,
        typer.Argument(
            metavar="OTHER",
            help="A second eager trace, same shapes and other values: what a graph would freeze.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL",
            help="Trace this model and try a real capture.",
            autocompletion=complete_model,
        ),
    ] = None,
    patch: options.PatchOption = None,
    weights: options.WeightsOption = options.Weights.random,
    text_only: options.TextOnlyOption = False,
    layers: options.LayersOption = None,
    isl: options.IslOption = 25,
    batch: options.BatchOption = 1,
    dtype: options.DtypeOption = options.Dtype.bfloat16,
    keep_going: Annotated[
        bool,
        typer.Option(
            help="Patch over each line at which a capture fails, and try again until it succeeds."
        ),
    ] = True,
    rounds: options.RoundsOption = 1,
    device: options.DeviceOption = options.DeviceChoice.auto,
    timeout: options.TimeoutOption = 900.0,
    phase: options.PhaseOption = options.PhaseChoice.all,
    step: options.StepOption = None,
    skip: options.SkipOption = 0,
    whole: options.WholeOption = False,
    nsys: options.NsysOption = None,
    runs: options.RunsOption = None,
    report_format: Annotated[str | None, options.format_option("blockers")] = None,
    output: options.OutputOption = None,
    fail_on: options.FailOnOption = None,
) -> None:
    """Why a step cannot be captured, with the source line.

    A trace has suspects; --model confirms them by a real capture.
    """
    from launchlens.limits import check_findings, parse_condition, require_blockers
    from launchlens.report.blockers import blockers_document

    if (trace is None) == (model is None):
        raise UsageError(
            "blockers needs either a trace or --model.",
            hint="launchlens blockers TRACE, or launchlens blockers --model gemma-3n-E4B-it.",
        )
    if patch is not None and model is None:
        raise UsageError("--patch changes a model's source.", hint="Give it together with --model.")
    if rounds > 1 and patch is None:
        raise UsageError(
            "--rounds repeats the untraced times of a step before and after a patch.",
            hint="Give it together with --patch.",
        )
    conditions = [parse_condition(text) for text in fail_on or ()]
    require_blockers(conditions)
    chosen = choose_format("blockers", report_format, output)

    def tell(report: BlockerReport) -> None:
        show(blockers_document(report), chosen, output)

    if trace is not None:
        from launchlens.workflow.blockers import report_between, report_blockers

        choices = Choices(phase.value, step, skip, whole, nsys, timeout)
        trace, *others = map(Path, received([str(path) for path in (trace, other) if path]))
        report = (
            report_between(trace, others[0], choices) if others else report_blockers(trace, choices)
        )
    else:
        from launchlens.harness.variants import as_it_is
        from launchlens.protocol.spec import HarnessSpec
        from launchlens.workflow.profiling.plan import check_patch, make_plan

        assert model is not None
        check_patch(patch)
        spec = HarnessSpec(
            model=model,
            result_path="unset",
            weights=weights.value,
            text_only=text_only,
            layers=layers,
            isl=isl,
            batch=batch,
            dtype=dtype.value,
            keep_going=keep_going,
            equivalence_dtypes=("float32", "float16", "bfloat16") if patch else (),
        )
        plan = make_plan(
            spec,
            variants=(as_it_is().name,),
            trace_steps=4,
            graph_trace="node",
            device=device.value,
            nsys_args=(),
            stacks=False,
            timeout_s=timeout,
            rounds=rounds,
            command=own_command(),
        )
        if rounds > 1 and plan.device == "cpu":
            raise UsageError("--rounds times steps, which blockers does on a GPU only.")
        from launchlens.workflow.profiling.probing import probe_model

        report = probe_model(plan, patch, nsys, runs, tell)
    tell(report)
    last = report.patched or report
    results = check_findings(conditions, report.label, last.findings, unproven=last.unproven)
    end_if_broken(results)
