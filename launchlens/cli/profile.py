"""``launchlens profile``: a model's forward steps under nsys, eager and captured, compared."""

from __future__ import annotations

import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from launchlens.cli.options import (
    FailOnOption,
    Format,
    FormatOption,
    NsysOption,
    OutputOption,
    VerboseOption,
)
from launchlens.cli.output import write
from launchlens.errors import CaptureError, HarnessError

if TYPE_CHECKING:
    from launchlens.capture import Nsys
    from launchlens.cli.profiling.execute import Outcome
    from launchlens.cli.profiling.plan import Plan


class GraphTraceChoice(StrEnum):
    """How CUDA graphs are traced."""

    node = "node"
    graph = "graph"
    both = "both"


class Weights(StrEnum):
    """Where weights come from."""

    random = "random"
    pretrained = "pretrained"


class Dtype(StrEnum):
    """Precision of weights and activations."""

    bfloat16 = "bfloat16"
    float16 = "float16"
    float32 = "float32"


class DeviceChoice(StrEnum):
    """Where the model runs."""

    auto = "auto"
    cuda = "cuda"
    cpu = "cpu"


ModelOption = Annotated[
    str, typer.Option("--model", "-m", help="A preset, a Hugging Face hub id, or a local folder.")
]
WeightsOption = Annotated[
    Weights,
    typer.Option("--weights", help="Random weights of the true architecture, or real ones."),
]
TextOnlyOption = Annotated[
    bool, typer.Option("--text-only", help="Build only the language model of a multimodal one.")
]
LayersOption = Annotated[
    int | None, typer.Option("--layers", min=1, help="Shorten the model to N layers, and say so.")
]
IslOption = Annotated[int, typer.Option("--isl", min=1, help="Input tokens of a request.")]
BatchOption = Annotated[int, typer.Option("--batch", min=1, help="Sequences in a step.")]
DtypeOption = Annotated[Dtype, typer.Option("--dtype", help="Precision.")]
PatchOption = Annotated[
    Path | None,
    typer.Option("--patch", help="A Python file applied before the model is built."),
]
DeviceOption = Annotated[
    DeviceChoice, typer.Option("--device", help="cpu traces NVTX ranges only.")
]
RunsOption = Annotated[
    Path | None, typer.Option("--runs", help="Folder of stored runs.", envvar="LAUNCHLENS_RUNS")
]


def profile(
    model: ModelOption,
    variant: Annotated[
        list[str] | None,
        typer.Option(
            "--variant",
            help="eager, cudagraph, breakable, piecewise, compile, compile-cudagraph, "
            "compile-cudagraphs-backend, or module:function. May be given several times; the "
            "first is the baseline. Default: eager and cudagraph.",
        ),
    ] = None,
    weights: WeightsOption = Weights.random,
    text_only: TextOnlyOption = False,
    layers: LayersOption = None,
    isl: IslOption = 25,
    osl: Annotated[
        int | None, typer.Option("--osl", min=2, help="Output tokens: adds decode steps.")
    ] = None,
    concurrency: Annotated[
        str | None,
        typer.Option("--concurrency", help="Requests batched together, as 1,4; needs --osl."),
    ] = None,
    batch: BatchOption = 1,
    dtype: DtypeOption = Dtype.bfloat16,
    equivalence: Annotated[
        list[Dtype] | None,
        typer.Option("--equivalence", help="Further dtypes in which outputs are compared."),
    ] = None,
    steps: Annotated[
        int, typer.Option("--steps", help="Untraced steps to time (at least 20).")
    ] = 20,
    trace_steps: Annotated[int, typer.Option("--trace-steps", help="Steps in each trace.")] = 8,
    warmup: Annotated[int, typer.Option("--warmup", min=0, help="Steps before measuring.")] = 5,
    modules: Annotated[
        bool, typer.Option("--modules", help="A range around each module's forward.")
    ] = False,
    patch: PatchOption = None,
    graph_trace: Annotated[
        GraphTraceChoice, typer.Option("--graph-trace", help="How captured variants are traced.")
    ] = GraphTraceChoice.both,
    nsys_arg: Annotated[
        list[str] | None, typer.Option("--nsys-arg", help="Passed on to nsys profile.")
    ] = None,
    stacks: Annotated[
        bool, typer.Option("--stacks", help="Record call stacks of synchronizing calls.")
    ] = False,
    device: DeviceOption = DeviceChoice.auto,
    seed: Annotated[int, typer.Option("--seed", help="Seed of weights and inputs.")] = 0,
    timeout: Annotated[
        float, typer.Option("--timeout", min=1, help="Seconds for each child process.")
    ] = 900.0,
    nsys: NsysOption = None,
    runs: RunsOption = None,
    report_format: FormatOption = Format.terminal,
    output: OutputOption = None,
    verbose: VerboseOption = False,
    fail_on: FailOnOption = None,
) -> None:
    """Run a model's steps under nsys once for each variant, and compare them."""
    from launchlens.cli.gating import parse_conditions
    from launchlens.cli.profiling.plan import make_plan
    from launchlens.harness.spec import HarnessSpec

    conditions = parse_conditions(fail_on)
    where = choose_device(device)
    spec = HarnessSpec(
        model=model,
        result_path="unset",
        weights=weights.value,
        text_only=text_only,
        layers=layers,
        isl=isl,
        osl=osl,
        batch=batch,
        concurrency=parse_concurrency(concurrency),
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
        device=where,
        nsys_args=nsys_arg or (),
        stacks=stacks,
        timeout_s=timeout,
    )
    _execute(plan, nsys, runs, report_format, output, conditions, verbose=verbose)


def choose_device(device: DeviceChoice) -> str:
    """Choose "cuda" or "cpu"; the CPU only when asked for, since it gives no device figures.

    Raises:
        HarnessError: no NVIDIA GPU answers.
    """
    if device is DeviceChoice.cpu:
        return "cpu"
    from launchlens.capture import gpu_facts

    if not gpu_facts():
        raise HarnessError(
            "no NVIDIA GPU answers here (nvidia-smi).",
            hint="Run it on a machine with one, or try the pipeline without device figures: "
            "--device cpu.",
        )
    return "cuda"


def parse_concurrency(text: str | None) -> tuple[int, ...]:
    """The numbers of ``--concurrency 1,4``.

    Raises:
        UsageError: not whole numbers from 1.
    """
    from launchlens.errors import UsageError

    if text is None:
        return ()
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise UsageError(
            f"--concurrency {text!r} is not a list of whole numbers.", hint="Write it as 1,4,16."
        )
    return tuple(dict.fromkeys(int(part) for part in parts))


def _execute(
    plan: Plan,
    nsys: Path | None,
    runs: Path | None,
    report_format: Format,
    output: Path | None,
    conditions: list[Any],
    *,
    verbose: bool,
) -> None:
    from launchlens.capture import find_nsys
    from launchlens.cli.gating import check_comparison
    from launchlens.cli.profiling.execute import Execution
    from launchlens.cli.profiling.progress import Progress
    from launchlens.cli.reports import render_report
    from launchlens.comparing import compare
    from launchlens.store import create_run, runs_root

    found = find_nsys(nsys)
    environment, commit = describe_environment(found)
    arguments = asdict(plan.spec) | {"variants": list(plan.variants)}
    progress = Progress(plan.children)
    root = runs_root(runs)
    with create_run(
        root, model=plan.spec.model, arguments=arguments, environment=environment
    ) as run:
        outcomes = Execution(plan, run, found, progress, commit).run_variants()
        _require_something(outcomes)
        title = plan.spec.model.rstrip("/").rpartition("/")[2]
        sides = [outcome.side(title) for outcome in outcomes]
        if len(sides) == 1:
            _report_single(outcomes[0], report_format, output, verbose=verbose)
            comparison = None
        else:
            comparison = compare([side.input for side in sides], title=title)
            markdown = render_report(comparison, sides, Format.markdown, None, verbose=False)
            (run.folder / "report.md").write_text(markdown, "utf-8")
            write(render_report(comparison, sides, report_format, output, verbose=verbose), output)
    sys.stderr.write(f"run {run.id} in {run.folder} ({progress.seconds:.0f} s)\n")
    if comparison is not None:
        check_comparison(conditions, comparison)


def describe_environment(nsys: Nsys) -> tuple[dict[str, Any], str | None]:
    """What is known before anything runs, for the run's row; and the commit, for reports."""
    from launchlens.capture import git_state, gpu_facts

    environment: dict[str, Any] = {"nsys": nsys.version_text}
    if gpus := gpu_facts():
        environment |= {"gpu": gpus[0].name, "driver": gpus[0].driver}
    state = git_state(Path.cwd())
    if state is None or state.commit is None:
        return environment, None
    environment |= {"git_commit": state.commit, "git_dirty": state.dirty}
    return environment, state.commit[:12] + (" (dirty)" if state.dirty else "")


def _require_something(outcomes: list[Outcome]) -> None:
    """A run of which nothing could be measured has no report.

    Raises:
        HarnessError: every variant failed; the first failure is told.
    """
    if any(outcome.traces for outcome in outcomes):
        return
    failure = next(o.facts.failure for o in outcomes if o.facts.failure)
    hint = failure.hint or (f"The program's output is in {failure.log}." if failure.log else None)
    raise HarnessError(f"{outcomes[0].variant}: {failure.error_line}", hint=hint)


def _report_single(
    outcome: Outcome, report_format: Format, output: Path | None, *, verbose: bool
) -> None:
    from launchlens.cli.analyze import render_loaded

    if outcome.counts is None:
        raise CaptureError(f"{outcome.variant} left no trace.")
    write(render_loaded(outcome.counts, report_format, output, verbose=verbose), output)
