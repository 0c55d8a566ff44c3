"""GitHub and GitHub Enterprise: pull requests of ``owner/name``."""

from __future__ import annotations

import re

from launchlens.forge.interface import Change, Job


class GitHub:
    """The server that $GITHUB_API_URL names, else GitHub itself."""

    name = "GitHub"
    form = "owner/name"
    change = "pull request"
    jobs = "GitHub Actions"
    longest = 65_536  # GitHub counts characters, of which bytes are never fewer

    def has(self, repo: str) -> bool:
        """Whether it is ``owner/name``."""
        return re.fullmatch(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+", repo) is not None

    def job(self) -> Job | None:
        """The job of GitHub Actions."""
        from launchlens.forge.forges.github.job import read_job

        return read_job()

    def open(self, repo: str, number: int) -> Change:
        """A pull request, with the token of the environment or the one that gh keeps."""
        from launchlens.forge.forges.github.client import PullRequestOnGitHub
        from launchlens.forge.forges.github.token import find_api_url, find_token

        api_url = find_api_url()
        return PullRequestOnGitHub(repo, number, token=find_token(api_url), api_url=api_url)


FORGE = GitHub()
