"""``launchlens run -- COMMAND``: any program under nsys, its steps read and kept."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from launchlens.cli import options
from launchlens.cli.output import TERMINAL, choose_format, own_command, show, write
from launchlens.errors import EXIT_CANNOT_ANSWER
from launchlens.streams import note, say


def run(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="The program and its arguments, behind --."),
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            "--recipe", metavar="NAME", help="An engine of `launchlens recipes`, or a TOML file."
        ),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            "--mode", metavar="NAME", help="How the engine runs its steps, as its recipe says."
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name", metavar="NAME", help="What diff calls it: RUN:NAME. Default: the mode."
        ),
    ] = None,
    iterations: Annotated[
        str | None,
        typer.Option("--iterations", metavar="A-B", help="Record these iterations of the engine."),
    ] = None,
    delay: Annotated[
        float,
        typer.Option(
            "--delay", metavar="SECONDS", min=0, help="Seconds before the recording begins."
        ),
    ] = 0.0,
    duration: Annotated[
        float | None,
        typer.Option(
            "--duration", metavar="SECONDS", min=1, help="Seconds to record; the program goes on."
        ),
    ] = None,
    capture_range: Annotated[
        str | None,
        typer.Option(
            "--capture-range",
            metavar="RANGE",
            help="What begins and ends the recording: cudaProfilerApi, nvtx:NAME or none. Default: "
            "as the recipe says, else none: the whole run.",
        ),
    ] = None,
    graph_trace: Annotated[
        options.RunGraphTrace,
        typer.Option(
            "--graph-trace", metavar="HOW", help="node counts kernels in graphs; graph costs less."
        ),
    ] = options.RunGraphTrace.node,
    nsys_arg: Annotated[
        list[str] | None,
        typer.Option("--nsys-arg", metavar="ARG", help="Passed on to nsys profile."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the command and its variables; run nothing.")
    ] = False,
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout", metavar="SECONDS", min=1, help="Seconds until it is asked to end."
        ),
    ] = None,
    grace: Annotated[
        float,
        typer.Option(
            "--grace",
            metavar="SECONDS",
            min=0,
            help="Seconds that it then has before it is killed.",
        ),
    ] = 30.0,
    nsys: options.NsysOption = None,
    runs: options.RunsOption = None,
    report_format: Annotated[str | None, options.format_option("analysis")] = None,
    output: options.OutputOption = None,
    verbose: options.VerboseOption = False,
) -> None:
    """Record any program under nsys as it is, and keep its figures.

    Its output, signals and exit code are its own. The recording is read and kept as a run. Ends
    with the program's exit code, or with 1 where that is 0 and no step was recorded.
    """
    from launchlens.capture import NothingRecordedError, find_nsys
    from launchlens.report.analysis import analysis_document
    from launchlens.workflow.running.execute import run_plan
    from launchlens.workflow.running.plan import Wanted, command_line, make_run_plan

    chosen = choose_format("analysis", report_format, output)
    plan = make_run_plan(
        command or (),
        Wanted(
            recipe=recipe,
            mode=mode,
            name=name,
            iterations=iterations,
            delay_s=delay,
            duration_s=duration,
            capture_range=capture_range,
            graphs=graph_trace.value,  # type: ignore[arg-type]
            nsys_args=nsys_arg or (),
            timeout_s=timeout,
            grace_s=grace,
        ),
    )
    if dry_run:
        write(f"{command_line(plan, find_nsys(nsys), Path('OUT'))}\n", None)
        return
    if plan.added:
        note(f"launchlens: the recipe adds {' '.join(plan.added)}")
    # Where the report itself goes to standard output for programs to read, the program's does not.
    piped = chosen != TERMINAL and output is None
    targets = (2, 2) if piped or sys.stdout is None else (1, 2)
    try:
        ran = run_plan(plan, nsys=nsys, runs=runs, command=own_command(), targets=targets)
    except NothingRecordedError as error:
        say(f"launchlens: {error}")
        raise typer.Exit(error.program_code or EXIT_CANNOT_ANSWER) from None
    for check in ran.checks:
        if check.status in ("warn", "fail"):
            say(f"launchlens: {check.name}: {check.detail}. {check.remedy}")
    if ran.loaded is not None:
        show(analysis_document(ran.loaded.analysis), chosen, output, verbose=verbose)
    elif ran.why is not None:
        say(f"launchlens: {ran.why}")
    raise typer.Exit(ran.exit_code or (0 if ran.loaded else EXIT_CANNOT_ANSWER))
