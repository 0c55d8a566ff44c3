"""A pull-request comment that keeps itself current, through the GitHub API (PyGithub)."""

from launchlens.github.forge import Comment, Forge, ForgeError
from launchlens.github.post import Posted, make_marker, post_comment
from launchlens.github.token import find_token, hostname_of

__all__ = [
    "Comment",
    "Forge",
    "ForgeError",
    "Posted",
    "find_token",
    "hostname_of",
    "make_marker",
    "post_comment",
]
