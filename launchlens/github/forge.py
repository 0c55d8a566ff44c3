"""What `post_comment` needs of a place where changes are reviewed.

`GitHubForge` is the one implementation; notes of GitLab merge requests (python-gitlab) would fit.
Nothing outside of the implementation knows GitHub.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

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


class Forge(Protocol):
    """One change (pull request) under review. Every method raises `ForgeError`."""

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
