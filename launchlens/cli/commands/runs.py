"""``launchlens runs``: stored runs, listed, shown, removed, and figures over them."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from launchlens.cli.options import (
    ListFormat,
    ListFormatOption,
    OutputOption,
    PhaseChoice,
    PhaseOption,
    RunsOption,
)
from launchlens.cli.output import terminal_width, wants_color, write
from launchlens.errors import UsageError

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Stored runs: list, show, remove, and follow a figure over them.",
)


class TrendFormat(StrEnum):
    """Formats of a trend."""

    terminal = "terminal"
    html = "html"
    json = "json"


@app.command("list")
def list_all(
    runs: RunsOption = None, report_format: ListFormatOption = ListFormat.terminal
) -> None:
    """List all runs, the newest first."""
    from launchlens.cli.run_views import render_rows, render_rows_json
    from launchlens.store import list_runs, runs_root

    root = runs_root(runs)
    rows = list_runs(root)
    if report_format is ListFormat.json:
        write(render_rows_json(rows), None)
    elif rows:
        write(render_rows(rows, width=terminal_width(), color=wants_color(None)), None)
    else:
        write(f"There are no runs in {root}. `launchlens profile` makes one.\n", None)


@app.command("show")
def show(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A run's name, its beginning or end, or latest.")
    ],
    runs: RunsOption = None,
    report_format: ListFormatOption = ListFormat.terminal,
) -> None:
    """Show a run: how it was made, its variants and their figures, traces, exact commands."""
    from launchlens.cli.run_views import render_run, render_run_json
    from launchlens.store import resolve_run, runs_root

    found = resolve_run(runs_root(runs), run)
    if report_format is ListFormat.json:
        write(render_run_json(found), None)
    else:
        write(render_run(found, width=terminal_width(), color=wants_color(None)), None)


@app.command("rm")
def remove(
    names: Annotated[
        list[str], typer.Argument(metavar="RUN", help="Runs by their names or beginnings.")
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    runs: RunsOption = None,
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
            metavar="METRIC", help="A figure, such as untraced_ns, launches, idle, ttft_ns."
        ),
    ],
    model: Annotated[str | None, typer.Option("--model", "-m", help="Only this model.")] = None,
    variant: Annotated[str | None, typer.Option("--variant", help="Only this variant.")] = None,
    phase: PhaseOption = PhaseChoice.all,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Only the newest N runs.")
    ] = None,
    report_format: Annotated[
        TrendFormat, typer.Option("--format", "-f", help="terminal, html or json.")
    ] = TrendFormat.terminal,
    output: OutputOption = None,
    runs: RunsOption = None,
) -> None:
    """Follow a figure over the runs, by commit. Only runs that can be compared share a line."""
    from launchlens.cli.run_views import newest_runs, render_trend_as
    from launchlens.store import runs_root
    from launchlens.store import trend as read_trend

    series = read_trend(
        runs_root(runs),
        metric,
        model=model,
        variant=variant,
        phase=None if phase is PhaseChoice.all else phase.value,
    )
    write(render_trend_as(newest_runs(series, limit), report_format.value), output)
