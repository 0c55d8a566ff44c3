"""``launchlens doctor``: is this machine ready to profile?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from launchlens.cli import options
from launchlens.cli.output import TERMINAL, choose_format, show, terminal_width, wants_color, write
from launchlens.cli.settings import current_settings
from launchlens.errors import EXIT_CANNOT_ANSWER

if TYPE_CHECKING:
    from launchlens.records.doctor import Check


def doctor(
    trial: Annotated[
        bool,
        typer.Option(
            "--trial/--no-trial", help="Whether to record for two seconds, to see that it works."
        ),
    ] = True,
    recipe: Annotated[
        str | None,
        typer.Option(
            "--recipe",
            metavar="NAME",
            help="Also look at what this engine needs (launchlens recipes).",
        ),
    ] = None,
    timeout: options.TimeoutOption = 120.0,
    nsys: options.NsysOption = None,
    runs: options.RunsOption = None,
    report_format: Annotated[str | None, options.format_option("doctor")] = None,
    output: options.OutputOption = None,
) -> None:
    """Check that this machine can profile: GPU, nsys, torch, a trial.

    Each line says what was found, and what to do about it. Ends with 1 if anything fails.
    """
    from launchlens.capture import check_environment
    from launchlens.recipes import find_recipe
    from launchlens.records.doctor import DoctorReport
    from launchlens.report.doctor import doctor_document, readiness
    from launchlens.store import runs_root
    from launchlens.trace import read_trace
    from launchlens.workflow.running.ready import check_recipe

    engine = find_recipe(recipe) if recipe else None
    chosen = choose_format("doctor", report_format, output)
    live = chosen == TERMINAL and output is None
    told = [_tell_settings()] if current_settings().file else []
    if live:
        for check in told:
            _tell(check)
    checks = check_environment(
        read_trace if trial else None,
        nsys=nsys,
        folder=runs_root(runs),
        timeout_s=timeout,
        on_check=_tell if live else None,
    )
    checks = [*told, *checks]
    for check in check_recipe(engine, nsys) if engine else ():
        checks.append(check)
        if live:
            _tell(check)
    ready = all(check.status != "fail" for check in checks)
    if live:
        write(f"\n{readiness(checks)}\n", None)
    else:
        show(doctor_document(DoctorReport(ready=ready, checks=tuple(checks))), chosen, output)
    if not ready:
        raise typer.Exit(EXIT_CANNOT_ANSWER)


def _tell_settings() -> Check:
    from launchlens.records.doctor import Check

    settings = current_settings()
    return Check("settings", "ok", f"{settings.file}: {settings}")


def _tell(check: Check) -> None:
    """One check as soon as it is done."""
    from launchlens.render.terminal.blocks import live_check
    from launchlens.report.doctor import checks_block

    block = checks_block([check])
    write(live_check(block, width=terminal_width(), color=wants_color(None)), None)
