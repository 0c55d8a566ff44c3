"""``launchlens comment``: a pull-request comment that keeps itself current."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from launchlens.cli.options import (
    FailOnOption,
    NsysOption,
    PhaseChoice,
    PhaseOption,
    RunsOption,
    SkipOption,
    StepOption,
)
from launchlens.cli.output import write
from launchlens.workflow.load import Choices

if TYPE_CHECKING:
    from launchlens.github.client import GitHubForge


def comment(
    reports: Annotated[
        list[str],
        typer.Argument(
            metavar="REPORT",
            help="A comparison (diff --format json), or a stored run, whose first variant is the "
            "baseline, or traces and RUN:VARIANTs, of which the first is the baseline.",
        ),
    ],
    repo: Annotated[str, typer.Option("--repo", metavar="OWNER/NAME", help="The repository.")],
    pr: Annotated[int, typer.Option("--pr", metavar="N", help="The pull request's number.")],
    key: Annotated[
        str, typer.Option("--key", help="Tells several comments on one pull request apart.")
    ] = "default",
    commit: Annotated[
        str | None,
        typer.Option(
            "--commit", metavar="SHA", help="The commit that was measured; a run knows its own."
        ),
    ] = None,
    fail_on: FailOnOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the comment; send and ask nothing.")
    ] = False,
    phase: PhaseOption = PhaseChoice.all,
    step: StepOption = None,
    skip: SkipOption = 0,
    runs: RunsOption = None,
    nsys: NsysOption = None,
) -> None:
    """Post a comparison on a pull request, or update the comment that is there.

    The token comes from $GITHUB_TOKEN, $GH_TOKEN or gh; $GITHUB_API_URL names a GitHub Enterprise
    server. Thresholds are told in the comment; it is posted before they end the command with 3.
    """
    from launchlens.cli.commenting import load_report, measured_commit
    from launchlens.cli.gating import parse_conditions, report
    from launchlens.github import make_marker, post_comment
    from launchlens.github.post import check_target
    from launchlens.limits import check_comparison
    from launchlens.render.comment import render_comment

    conditions = parse_conditions(fail_on)
    check_target(repo, pr)
    forge = None if dry_run else _open_forge(repo, pr)
    choices = Choices(phase.value, step, skip, nsys=nsys)
    comparison = load_report(reports, choices, runs, conditions)
    gates = check_comparison(conditions, comparison)
    marker = make_marker(key)
    body = render_comment(
        comparison,
        marker=marker,
        measured_commit=measured_commit(comparison, commit),
        head_commit=forge.read_head() if forge else None,
        gates=gates,
    )
    posted = post_comment(repo, pr, body, marker=marker, token=None, dry_run=dry_run, forge=forge)
    if dry_run:
        write(posted.body, None)
    else:
        write(f"{posted.action} {posted.url}\n", None)
        if posted.removed:
            sys.stderr.write(f"removed {posted.removed} duplicates of it\n")
    report(gates)


def _open_forge(repo: str, pr: int) -> GitHubForge:
    """The pull request, with the token of the environment or the one that gh keeps.

    Raises:
        UsageError: there is no token. Told before traces are read.
    """
    from launchlens.capture.ghtoken import read_gh_token
    from launchlens.github import find_token, hostname_of
    from launchlens.github.client import GitHubForge

    token = find_token() or read_gh_token(hostname_of(None))
    return GitHubForge(repo, pr, token=token)
