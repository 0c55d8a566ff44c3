"""``launchlens comment``: a pull-request comment that keeps itself current."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from launchlens.cli import options
from launchlens.cli.output import end_if_broken, write
from launchlens.cli.standard_input import received
from launchlens.streams import say
from launchlens.workflow.load import Choices

if TYPE_CHECKING:
    from launchlens.forge import Job
    from launchlens.records.commit import Commit
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
    repo: Annotated[
        str | None,
        typer.Option(
            "--repo", metavar="OWNER/NAME", help="The repository; GitHub Actions tells its own."
        ),
    ] = None,
    pr: Annotated[
        int | None,
        typer.Option(
            "--pr", metavar="N", help="The pull request's number; GitHub Actions tells its own."
        ),
    ] = None,
    key: Annotated[
        str,
        typer.Option(
            "--key", metavar="NAME", help="Tells several comments on one pull request apart."
        ),
    ] = "default",
    commit: Annotated[
        str | None,
        typer.Option(
            "--commit",
            metavar="SHA",
            help="The commit that was measured; a run and GitHub Actions tell theirs.",
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
    timeout: options.ExportTimeoutOption = None,
) -> None:
    """Post a comparison on a pull request, or update what is there.

    The token comes from $GITHUB_TOKEN, $GH_TOKEN or gh; $GITHUB_API_URL names a GitHub Enterprise
    server. Thresholds are told in the comment; it is posted before they end the command with 3.
    """
    from launchlens.forge import find_forge, find_job, make_marker, open_change, post_comment
    from launchlens.limits import ask_for_blockers, check_comparison, parse_condition
    from launchlens.render.markdown.comment import Measured, Place, render_comment
    from launchlens.report.comparison import comparison_document
    from launchlens.report.limits import describe_limit
    from launchlens.workflow.comparisons import load_comparison

    conditions = [parse_condition(text) for text in fail_on or ()]
    job = find_job()
    repo = repo or (job.repo if job else None)
    own = job if job and job.repo == repo else None  # of another repository it tells nothing
    number = own.number if pr is None and own else pr
    forge = find_forge(repo)
    change = None if dry_run else open_change(repo, number)
    choices = Choices(phase.value, step, skip, nsys=nsys, timeout_s=timeout)
    blockers = ask_for_blockers(conditions)
    comparison = load_comparison(received(reports), choices, runs, blockers=blockers)
    results = check_comparison(conditions, comparison)
    marker = make_marker(key)
    known = _measured(comparison, commit, own if own and own.number == number else None)
    head = change.read_head() if change else None
    stale = known is not None and head is not None and not known.is_same(head)
    body = render_comment(
        comparison_document(comparison),
        marker=marker,
        place=Place(forge.name, forge.change, forge.longest),
        measured=Measured(known.sha, known.dirty, stale, head) if known else None,
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


def _measured(comparison: Comparison, named: str | None, job: Job | None) -> Commit | None:
    """The commit that was measured: the one named, else that of all candidates' runs or the job.

    A run in a job that built a merge of its own was of the change's head.
    """
    from launchlens.records.commit import Commit
    from launchlens.workflow.comparisons import measured_commits

    told = measured_commits(comparison)
    if not named:  # empty is as good as none
        if job is None or job.head is None:
            return told[0] if len(told) == 1 else None
        here = [
            Commit(job.head, c.dirty) if job.built and c.is_same(job.built) else c for c in told
        ]
        return (here or [Commit(job.head)])[0] if len(set(here)) < 2 else None
    given = Commit.described(named)
    other = [commit for commit in told if not commit.is_same(given.sha)]
    if other:
        said = ", ".join(f"{c.sha}, with files changed" if c.dirty else c.sha for c in other)
        say(f"note: --commit says {given.sha[:7]}, the run says it was recorded at {said}")
    return given
