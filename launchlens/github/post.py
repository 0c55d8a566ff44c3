"""Keeps one comment current: found by its hidden marker, updated, or created once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from launchlens.errors import UsageError
from launchlens.github.client import GitHubForge
from launchlens.github.forge import Comment, Forge

Action = Literal["created", "updated", "unchanged", "printed"]


@dataclass(frozen=True, slots=True)
class Posted:
    """What became of a comment: no ``url`` after a dry run, ``removed`` counts own duplicates."""

    action: Action
    url: str | None
    body: str
    removed: int = 0


def make_marker(key: str) -> str:
    """The hidden first line by which a comment is found again.

    ``key`` tells several comments on one pull request apart, such as the model's name.
    """
    safe = re.sub(r"-{2,}", "-", re.sub(r"[^A-Za-z0-9._/+-]+", "-", key)).strip("-") or "default"
    return f"<!-- launchlens:comment:{safe} -->"


def post_comment(
    repo: str,
    pr: int,
    body: str,
    *,
    marker: str,
    token: str | None,
    api_url: str | None = None,
    dry_run: bool = False,
    forge: Forge | None = None,
) -> Posted:
    """Creates the comment with this marker, or updates the one that is there.

    Only a comment that begins with the marker and was written with the same identity is ever
    changed. Two runs at once leave one comment: after creating, comments are listed again, the
    oldest is kept, and own newer ones are deleted.

    Args:
        repo: ``owner/name``.
        pr: the pull request's number.
        body: Markdown; the marker is put before it if it does not begin with it.
        marker: from `make_marker`.
        token: for the API; may be None for a dry run. Never printed.
        api_url: see `find_api_url`.
        dry_run: only return what would be posted; nothing is sent or asked.
        forge: takes the place of GitHub, for tests and other forges.

    Raises:
        UsageError: repo or number make no sense, or no token was found.
        ForgeError: GitHub refused it or cannot be reached.
    """
    if not body.startswith(marker):
        body = f"{marker}\n{body}"
    check_target(repo, pr)
    if dry_run:
        return Posted("printed", None, body)
    return _keep(forge or GitHubForge(repo, pr, token=token, api_url=api_url), body, marker)


def check_target(repo: str, pr: int) -> None:
    """Refuses what cannot be a repository and a pull request of it.

    Raises:
        UsageError: says which.
    """
    if not re.fullmatch(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+", repo):
        raise UsageError(f"{repo!r} is no repository.", hint="Write owner/name.")
    if pr < 1:
        raise UsageError(f"{pr} is no number of a pull request.")


def _keep(forge: Forge, body: str, marker: str) -> Posted:
    if found := _marked(forge, marker):
        return _settle(forge, found, body, "updated")
    created = forge.create_comment(body)
    # Another run may have created its own meanwhile, or a retried request this one twice.
    found = _marked(forge, marker)
    if not found:  # not listed yet
        return Posted("created", created.url, body)
    return _settle(forge, found, body, "created" if found[0].id == created.id else "updated")


def _settle(forge: Forge, found: list[Comment], body: str, action: Action) -> Posted:
    """Keeps the oldest comment, with this body, and deletes the others."""
    kept, *others = found
    if kept.body != body:
        kept = forge.update_comment(kept, body)
    elif action == "updated":
        action = "unchanged"
    for comment in others:
        forge.delete_comment(comment)
    return Posted(action, kept.url, body, removed=len(others))


def _marked(forge: Forge, marker: str) -> list[Comment]:
    """Own comments with the marker, oldest first. Quoting the marker further down is not enough."""
    marked = [c for c in forge.list_comments() if c.own and c.body.lstrip().startswith(marker)]
    return sorted(marked, key=lambda comment: comment.id)
