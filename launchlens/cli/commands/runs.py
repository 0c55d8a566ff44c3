"""``launchlens runs``: stored runs, listed, shown, removed, and figures over them."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated

import typer

from launchlens.cli import options
from launchlens.cli.complete import complete_metric, complete_model, complete_run, complete_variant
from launchlens.cli.output import choose_format, show, write
from launchlens.errors import UsageError

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Stored runs: list, show, remove, and follow a figure over them.",
)


@app.command("list")
def list_all(
    runs: options.RunsOption = None,
    report_format: Annotated[str | None, options.format_option("runs")] = None,
    output: options.OutputOption = None,
) -> None:
    """List all runs, the newest first."""
    from launchlens.report.runs import runs_document
    from launchlens.store import list_runs, runs_root

    chosen = choose_format("runs", report_format, output)
    root = runs_root(runs)
    show(runs_document(list_runs(root), str(root)), chosen, output)


@app.command("show")
def show_one(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="A run's name, its beginning or end, or latest.",
            autocompletion=complete_run,
        ),
    ],
    runs: options.RunsOption = None,
    report_format: Annotated[str | None, options.format_option("run")] = None,
    output: options.OutputOption = None,
) -> None:
    """Show a run: how it was made, its variants, figures and traces."""
    from launchlens.report.runs import run_document
    from launchlens.store import resolve_run, runs_root

    chosen = choose_format("run", report_format, output)
    show(run_document(resolve_run(runs_root(runs), run)), chosen, output)


@app.command("rm")
def remove(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN",
            help="Runs by their names or beginnings.",
            autocompletion=complete_run,
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    runs: options.RunsOption = None,
) -> None:
    """Remove runs for good: their folders, traces and figures. Asks before each."""
    from launchlens.store import list_runs, remove_run, runs_root

    root = runs_root(runs)
    if not yes and not sys.stdin.isatty():
        raise UsageError("runs rm asks before it removes, and nobody is there.", hint="Add --yes.")
    for name in names:
        found = [row.id for row in list_runs(root) if row.id.startswith(name)]
        # What means no run or several is not asked about: remove_run says what is wrong.
        if not yes and len(found) == 1 and not typer.confirm(f"Remove {found[0]} for good?"):
            continue
        write(f"removed {remove_run(root, name)}\n", None)


@app.command("trend")
def trend(
    metric: Annotated[
        str,
        typer.Argument(
            metavar="METRIC",
            help="A figure, such as untraced_ns, launches, idle, ttft_ns.",
            autocompletion=complete_metric,
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL",
            help="Only this model.",
            autocompletion=complete_model,
        ),
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option(
            "--variant",
            metavar="NAME",
            help="Only this variant.",
            autocompletion=complete_variant,
        ),
    ] = None,
    phase: options.PhaseOption = options.PhaseChoice.all,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Only the newest N runs.")
    ] = None,
    report_format: Annotated[str | None, options.format_option("trend")] = None,
    output: options.OutputOption = None,
    runs: options.RunsOption = None,
) -> None:
    """Follow a figure over the runs, by commit. Only runs that can be compared share a line."""
    from launchlens.report.trend import trend_document
    from launchlens.store import runs_root
    from launchlens.store import trend as read_trend

    chosen = choose_format("trend", report_format, output)
    series = read_trend(
        runs_root(runs),
        metric,
        model=model,
        variant=variant,
        phase=None if phase is options.PhaseChoice.all else phase.value,
    )
    if limit is not None:
        series = tuple(replace(one, points=one.points[-limit:]) for one in series)
    show(trend_document(series), chosen, output)
