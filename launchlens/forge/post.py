"""Keeps one comment current: found by its hidden marker, updated, or created once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from launchlens.errors import UsageError
from launchlens.forge.forges import all_forges
from launchlens.forge.interface import Change, Comment, Forge, Job

Action = Literal["created", "updated", "unchanged"]


@dataclass(frozen=True, slots=True)
class Posted:
    """What became of a comment; ``removed`` counts own duplicates."""

    action: Action
    url: str
    removed: int = 0


def make_marker(key: str) -> str:
    """The hidden first line by which a comment is found again.

    ``key`` tells several comments on one pull request apart, such as the model's name.
    """
    safe = re.sub(r"-{2,}", "-", re.sub(r"[^A-Za-z0-9._/+-]+", "-", key)).strip("-") or "default"
    return f"<!-- launchlens:comment:{safe} -->"


def find_job() -> Job | None:
    """The automatic job that this process belongs to; None if it is none of any forge's."""
    jobs = (forge.job() for forge in all_forges())
    return next((job for job in jobs if job is not None), None)


def find_forge(repo: str | None) -> Forge:
    """The forge whose repositories are written so; where none is named, that of short comments.

    Raises:
        UsageError: it is no repository of any.
    """
    forges = all_forges()
    if repo is None:
        return min(forges, key=lambda forge: forge.longest)
    forge = next((forge for forge in forges if forge.has(repo)), None)
    if forge is None:
        forms = " or ".join(known.form for known in forges)
        raise UsageError(f"{repo!r} is no repository.", hint=f"Write {forms}.")
    return forge


def open_change(repo: str | None, number: int | None) -> Change:
    """A change by the repository and its number.

    Raises:
        UsageError: repo or number are missing or make no sense, or no token was found.
    """
    forge = find_forge(repo)
    if repo is None or number is None:
        lacking = "repository" if repo is None else f"{forge.change}"
        jobs = " or ".join(known.jobs for known in all_forges())
        raise UsageError(
            f"No {lacking} is named to comment on.",
            hint=f"Give --repo and --pr, which {jobs} would tell, or --dry-run.",
        )
    if number < 1:
        raise UsageError(f"{number} is no number of a {forge.change}.")
    return forge.open(repo, number)


def post_comment(change: Change, body: str, marker: str) -> Posted:
    """Creates the comment with this marker, or updates the one that is there.

    Only a comment that begins with the marker and was written with the same identity is ever
    changed. Two runs at once leave one comment: after creating, comments are listed again, the
    oldest is kept, and own newer ones are deleted.

    Args:
        change: where to.
        body: Markdown that begins with the marker.
        marker: from `make_marker`.

    Raises:
        ForgeError: the forge refused it or cannot be reached.
    """
    if found := _marked(change, marker):
        return _settle(change, found, body, "updated")
    created = change.create_comment(body)
    # Another run may have created its own meanwhile, or a retried request this one twice.
    found = _marked(change, marker)
    if not found:  # not listed yet
        return Posted("created", created.url)
    return _settle(change, found, body, "created" if found[0].id == created.id else "updated")


def _settle(change: Change, found: list[Comment], body: str, action: Action) -> Posted:
    """Keeps the oldest comment, with this body, and deletes the others."""
    kept, *others = found
    if kept.body != body:
        kept = change.update_comment(kept, body)
    elif action == "updated":
        action = "unchanged"
    for comment in others:
        change.delete_comment(comment)
    return Posted(action, kept.url, removed=len(others))


def _marked(change: Change, marker: str) -> list[Comment]:
    """Own comments with the marker, oldest first. Quoting the marker further down is not enough."""
    marked = [c for c in change.list_comments() if c.own and c.body.lstrip().startswith(marker)]
    return sorted(marked, key=lambda comment: comment.id)
