"""``launchlens doctor``: is this machine ready to profile?"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Annotated

import typer

from launchlens.cli.options import ListFormat, ListFormatOption, NsysOption, RunsOption
from launchlens.cli.output import terminal_width, wants_color, write
from launchlens.errors import EXIT_CANNOT_ANSWER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from launchlens.records.doctor import Check

_INDENT = 6
_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red", "skip": "cyan"}


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
    from launchlens.store import runs_root
    from launchlens.trace import read_trace

    live = report_format is ListFormat.terminal
    checks = check_environment(
        read_trace if trial else None,
        nsys=nsys,
        folder=runs_root(runs),
        on_check=_show if live else None,
    )
    write(_summary(checks) if live else _render_json(checks), None)
    if any(check.status == "fail" for check in checks):
        raise typer.Exit(EXIT_CANNOT_ANSWER)


def _show(check: Check) -> None:
    """One check as soon as it is done."""
    write(_render_check(check, terminal_width(), color=wants_color(None)), None)


def _render_check(check: Check, width: int, *, color: bool) -> str:
    from launchlens.render.format import plain

    status = f"{check.status:<{_INDENT}}"
    if color:
        status = typer.style(status, fg=_COLOURS[check.status])
    said = f"{check.name}: {plain(check.detail, 1000)}"
    text = status + _wrap(said, width)
    if check.status != "ok":
        text += " " * _INDENT + _wrap(f"→ {plain(check.remedy, 1000)}", width)
    return text


def _wrap(text: str, width: int) -> str:
    """Text after the status, later lines below its beginning; paths and commands stay whole."""
    lines = textwrap.wrap(
        text, max(width, 40) - _INDENT, break_long_words=False, break_on_hyphens=False
    )
    return f"\n{' ' * _INDENT}".join(lines) + "\n"


def _summary(checks: Sequence[Check]) -> str:
    failed = sum(check.status == "fail" for check in checks)
    warned = sum(check.status == "warn" for check in checks)
    if failed:
        return f"\nNot ready to profile: {failed} of {len(checks)} checks failed.\n"
    return "\nReady to profile" + (f", with {warned} to look at.\n" if warned else ".\n")


def _render_json(checks: Sequence[Check]) -> str:
    from launchlens.records.doctor import DoctorReport
    from launchlens.serialize import to_json

    ready = all(check.status != "fail" for check in checks)
    return to_json(DoctorReport(ready=ready, checks=tuple(checks)))
