"""``launchlens doctor``: is this machine ready to profile?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from launchlens.cli.options import ListFormat, ListFormatOption, NsysOption, RunsOption
from launchlens.cli.output import terminal_width, wants_color, write
from launchlens.errors import EXIT_CANNOT_ANSWER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from launchlens.records.doctor import Check


def doctor(
    trial: Annotated[
        bool,
        typer.Option(
            "--trial/--no-trial", help="Whether to record for two seconds, to see that it works."
        ),
    ] = True,
    nsys: NsysOption = None,
    runs: RunsOption = None,
    report_format: ListFormatOption = ListFormat.terminal,
) -> None:
    """Check that this machine can profile: GPU, nsys, torch, disk, a trial recording.

    Each line says what was found, and what to do about it. Ends with 1 if anything fails.
    """
    from launchlens.capture import check_environment
    from launchlens.report.doctor import readiness
    from launchlens.store import runs_root
    from launchlens.trace import read_trace

    live = report_format is ListFormat.terminal
    checks = check_environment(
        read_trace if trial else None,
        nsys=nsys,
        folder=runs_root(runs),
        on_check=_show if live else None,
    )
    write(f"\n{readiness(checks)}\n" if live else _render_json(checks), None)
    if any(check.status == "fail" for check in checks):
        raise typer.Exit(EXIT_CANNOT_ANSWER)


def _show(check: Check) -> None:
    """One check as soon as it is done."""
    from launchlens.render.terminal.blocks import live_check
    from launchlens.report.doctor import checks_block

    block = checks_block([check])
    write(live_check(block, width=terminal_width(), color=wants_color(None)), None)


def _render_json(checks: Sequence[Check]) -> str:
    from launchlens.records.doctor import DoctorReport
    from launchlens.serialize import to_json

    ready = all(check.status != "fail" for check in checks)
    return to_json(DoctorReport(ready=ready, checks=tuple(checks)))
