"""What a forge, a place where changes are reviewed, offers to those who comment there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from launchlens.errors import LaunchlensError


class ForgeError(LaunchlensError):
    """The comment could not be posted: refused, rate-limited, or no connection."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment under a change. ``own``: written with the same identity as the token's."""

    id: int
    own: bool
    body: str
    url: str


@dataclass(frozen=True, slots=True)
class Job:
    """What the environment of an automatic job says; None where it does not.

    ``built``: the commit that was checked out, which may be a merge that the forge made for it.
    """

    repo: str
    number: int | None = None
    head: str | None = None
    built: str | None = None


class Change(Protocol):
    """One change (pull request, merge request) under review. Every method raises `ForgeError`."""

    def read_head(self) -> str:
        """Full hash of the change's newest commit."""

    def list_comments(self) -> Sequence[Comment]:
        """All comments under the change, from all pages."""

    def create_comment(self, body: str) -> Comment:
        """Writes a new comment."""

    def update_comment(self, comment: Comment, body: str) -> Comment:
        """Replaces a comment's body."""

    def delete_comment(self, comment: Comment) -> None:
        """Deletes a comment; one that is gone already is no error."""


class Forge(Protocol):
    """A forge. Its file in `launchlens.forge.forges` holds an instance named ``FORGE``."""

    name: ClassVar[str]
    """What people call it."""
    form: ClassVar[str]
    """How its repositories are written, such as "owner/name"."""
    change: ClassVar[str]
    """What it calls a change under review, such as "pull request"."""
    jobs: ClassVar[str]
    """What its automatic jobs are called."""
    longest: ClassVar[int]
    """Bytes of the longest comment that it takes."""

    def has(self, repo: str) -> bool:
        """Whether a repository written so is one of this forge."""

    def job(self) -> Job | None:
        """The job that this process belongs to, by its environment; None if it is none of its."""

    def open(self, repo: str, number: int) -> Change:
        """A change by its number, with the token that the environment holds.

        Raises:
            UsageError: there is no token, or an address it must not be sent to.
        """
