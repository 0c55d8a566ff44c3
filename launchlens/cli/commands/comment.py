"""``launchlens comment``: a pull-request comment that keeps itself current."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from launchlens.cli import options
from launchlens.cli.output import end_if_broken, write
from launchlens.streams import say
from launchlens.workflow.load import Choices

if TYPE_CHECKING:
    from launchlens.records.comparison import Comparison


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
        str,
        typer.Option(
            "--key", metavar="NAME", help="Tells several comments on one pull request apart."
        ),
    ] = "default",
    commit: Annotated[
        str | None,
        typer.Option(
            "--commit", metavar="SHA", help="The commit that was measured; a run knows its own."
        ),
    ] = None,
    fail_on: options.FailOnOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the comment; send and ask nothing.")
    ] = False,
    phase: options.PhaseOption = options.PhaseChoice.all,
    step: options.StepOption = None,
    skip: options.SkipOption = 0,
    runs: options.RunsOption = None,
    nsys: options.NsysOption = None,
) -> None:
    """Post a comparison on a pull request, or update what is there.

    The token comes from $GITHUB_TOKEN, $GH_TOKEN or gh; $GITHUB_API_URL names a GitHub Enterprise
    server. Thresholds are told in the comment; it is posted before they end the command with 3.
    """
    from launchlens.forge import make_marker, open_change, post_comment
    from launchlens.limits import ask_for_blockers, check_comparison, parse_condition
    from launchlens.render.markdown.comment import render_comment
    from launchlens.report.comparison import comparison_document
    from launchlens.report.limits import describe_limit
    from launchlens.workflow.comparisons import load_comparison

    conditions = [parse_condition(text) for text in fail_on or ()]
    change = open_change(repo, pr, dry_run=dry_run)
    choices = Choices(phase.value, step, skip, nsys=nsys)
    blockers = ask_for_blockers(conditions)
    comparison = load_comparison(reports, choices, runs, blockers=blockers)
    results = check_comparison(conditions, comparison)
    marker = make_marker(key)
    body = render_comment(
        comparison_document(comparison),
        marker=marker,
        measured_commit=_measured_commit(comparison, commit),
        head_commit=change.read_head() if change else None,
        limits=[(result.passed, describe_limit(result)) for result in results],
    )
    if change is None:
        write(body, None)
    else:
        posted = post_comment(change, body, marker)
        write(f"{posted.action} {posted.url}\n", None)
        if posted.removed:
            say(f"removed {posted.removed} duplicates of it")
    end_if_broken(results)


def _measured_commit(comparison: Comparison, named: str | None) -> str | None:
    """The commit that was measured: the one named, else the one that all candidates' runs tell."""
    from launchlens.workflow.comparisons import is_same_commit, measured_commits

    told = measured_commits(comparison)
    if not named:  # empty is as good as none
        return told[0] if len(told) == 1 else None
    other = [commit for commit in told if not is_same_commit(commit, named)]
    if other:
        said = ", ".join(other)
        say(f"note: --commit says {named[:7]}, the run says it was recorded at {said}")
    return named
