"""GitHub through PyGithub: pages, retries, rate limits, and errors in one sentence."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from launchlens.forge.interface import Comment, ForgeError

if TYPE_CHECKING:
    from github import Github
    from github.GithubException import GithubException
    from github.GithubRetry import GithubRetry
    from github.IssueComment import IssueComment
    from github.NamedUser import NamedUser
    from github.Organization import Organization
    from github.PullRequest import PullRequest

TRIES = 5
BACKOFF_S = 1.0  # pauses of 0, 2, 4, 8 … s between tries
LONGEST_WAIT_S = 120.0  # a rate limit that lasts longer ends the command instead of hanging it
SECONDARY_WAIT_S = 60.0  # GitHub asks for a minute where it names no time
TIMEOUT_S = 30
PAGE_SIZE = 100
_LONGEST = 300  # characters of what GitHub says
_NOT_UNDERSTOOD = (ValueError, TypeError, AttributeError, LookupError, RuntimeError)
"""What PyGithub raises of a page of HTML, broken JSON, other types, and redirects elsewhere."""


class PullRequestOnGitHub:
    """One pull request on GitHub or GitHub Enterprise (a `Change`).

    Args:
        repo: ``owner/name``.
        number: the pull request's.
        token: for the API.
        api_url: the API's address.
        backoff_s: unit of the pauses between tries.
        longest_wait_s: how long a rate limit may be waited for.
    """

    def __init__(
        self,
        repo: str,
        number: int,
        *,
        token: str,
        api_url: str,
        backoff_s: float = BACKOFF_S,
        longest_wait_s: float = LONGEST_WAIT_S,
    ) -> None:
        self._repo, self._number = repo, number
        self._token, self._api_url = token, api_url
        self._backoff_s = backoff_s
        self._longest_wait_s = longest_wait_s
        self._raw: dict[int, IssueComment] = {}

    def read_head(self) -> str:
        """Full hash of the pull request's head commit."""
        with self._errors("read the pull request"):
            return _text(self._pull.head.sha)

    def list_comments(self) -> list[Comment]:
        """All comments of the pull request, from all pages."""
        login, is_bot = self._identity
        with self._errors("list the comments"):
            return [self._comment(raw, login, is_bot) for raw in self._pull.get_issue_comments()]

    def create_comment(self, body: str) -> Comment:
        """Writes a new comment."""
        with self._errors("create the comment"):
            raw = self._pull.create_issue_comment(body)
            return self._keep(raw, own=True)

    def update_comment(self, comment: Comment, body: str) -> Comment:
        """Replaces a comment's body."""
        with self._errors("update the comment"):
            raw = self._raw[comment.id]
            raw.edit(body)
            if raw.body == comment.body != body:
                raise ValueError("the answer does not hold the comment")
            return self._keep(raw, own=comment.own)

    def delete_comment(self, comment: Comment) -> None:
        """Deletes a comment; a run at the same time may have done so already."""
        from github import UnknownObjectException

        with self._errors("delete a duplicate"), contextlib.suppress(UnknownObjectException):
            self._raw[comment.id].delete()

    @functools.cached_property
    def _client(self) -> Github:
        from github import Auth, Github

        return Github(
            auth=Auth.Token(self._token),
            base_url=self._api_url,
            timeout=TIMEOUT_S,
            per_page=PAGE_SIZE,
            user_agent="launchlens",
            lazy=True,
            retry=_make_retry(self._backoff_s, self._longest_wait_s),
            seconds_between_requests=0,
            seconds_between_writes=self._backoff_s,  # GitHub asks for one a second
        )

    @functools.cached_property
    def _pull(self) -> PullRequest:
        return self._client.get_repo(self._repo).get_pull(self._number)

    @functools.cached_property
    def _identity(self) -> tuple[str, bool]:
        """Login of the token's user, and whether it is an app's bot.

        An app's token (GITHUB_TOKEN of a workflow too) may not ask GET /user; the GraphQL viewer
        tells its bot, with or without "[bot]" behind the name.
        """
        from github import GithubException

        with self._errors("find out whose token this is"):
            try:
                return _text(self._client.get_user().login), False
            except GithubException as error:
                if error.status not in (403, 404) or _is_rate_limit(error):
                    raise
            query = "query { viewer { login } }"
            _, answer = self._client.requester.graphql_query(query, {})
            return _text(answer["data"]["viewer"]["login"]).removesuffix("[bot]"), True

    def _comment(self, raw: IssueComment, login: str, is_bot: bool) -> Comment:
        author: NamedUser | Organization | None = raw.user
        if author is None:  # a deleted account
            return self._keep(raw, own=False)
        if is_bot:
            own = author.type == "Bot" and author.login.removesuffix("[bot]") == login
        else:
            own = author.login == login
        return self._keep(raw, own=own)

    def _keep(self, raw: IssueComment, *, own: bool) -> Comment:
        if not isinstance(raw.id, int):
            raise TypeError("a comment without a number")
        self._raw[raw.id] = raw
        return Comment(id=raw.id, own=own, body=raw.body or "", url=_text(raw.html_url))

    @contextlib.contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        """Turns what GitHub and the network say into one sentence without the token."""
        import requests
        from github import BadAttributeException, GithubException

        target = f"{self._repo}#{self._number}"
        try:
            yield
        except GithubException as error:
            message, hint = _explain(error)
            text = f"GitHub did not let launchlens {doing} on {target}: {message}."
            raise ForgeError(text.replace(self._token, "…"), hint=hint) from None
        except requests.exceptions.RetryError:
            raise ForgeError(
                f"GitHub failed {TRIES + 1} times to {doing} on {target} (server errors).",
                hint="Try again later.",
            ) from None
        except requests.exceptions.RequestException as error:
            raise ForgeError(
                f"GitHub at {self._api_url} could not be reached to {doing} on {target} "
                f"({type(error).__name__}).",
                hint="Check the network and GITHUB_API_URL; nothing else was changed.",
            ) from None
        except (*_NOT_UNDERSTOOD, BadAttributeException):
            raise self._not_understood(doing) from None

    def _not_understood(self, doing: str) -> ForgeError:
        return ForgeError(
            f"What answered at {self._api_url} is not GitHub: its answer makes no sense to {doing} "
            f"on {self._repo}#{self._number}.",
            hint="Check GITHUB_API_URL, and whether a proxy stands between.",
        )


def _make_retry(backoff_s: float, longest_wait_s: float) -> GithubRetry:
    """Retries server errors, lost connections and rate limits that end soon.

    A retried POST may create a comment twice; `post_comment` lists again and removes it.
    """
    from github import RateLimitExceededException
    from github.GithubRetry import GithubRetry

    class Patient(GithubRetry):
        def increment(self, *args: Any, **kwargs: Any) -> Any:
            response = kwargs.get("response")
            wait = None if response is None else self.get_retry_after(response)
            if response is not None and wait is not None and wait > longest_wait_s:
                raise RateLimitExceededException(
                    response.status, {"message": f"rate limit, wait {wait:.0f} s"}
                )
            return super().increment(*args, **kwargs)

    return Patient(
        total=TRIES,
        backoff_factor=backoff_s,
        secondary_rate_wait=min(SECONDARY_WAIT_S, longest_wait_s),
        max_rate_limit_wait=longest_wait_s,
        status_forcelist=[429, *range(500, 600)],
        allowed_methods=frozenset({"GET", "POST", "PATCH", "DELETE"}),
    )


def _text(answered: object) -> str:
    """A text that GitHub always gives; `TypeError` where what answers is not GitHub."""
    if not isinstance(answered, str):
        raise TypeError("not a text")
    return answered


def _is_rate_limit(error: GithubException) -> bool:
    from github import RateLimitExceededException

    return isinstance(error, RateLimitExceededException)


def _explain(error: GithubException) -> tuple[str, str | None]:
    """What an error of the API means, and what to do."""
    said = error.data.get("message") if isinstance(error.data, dict) else None
    words = str(said or error.message or f"status {error.status}").split()
    text = "".join(c for c in " ".join(words) if c.isprintable())[:_LONGEST].rstrip(".")
    if _is_rate_limit(error):
        return f"its rate limit is used up ({text})", "Try again later, or use another token."
    if error.status == 401:
        return f"the token was refused ({text})", "Make a new one; launchlens never prints it."
    if error.status == 403:
        return text, "The token needs permission to write pull requests (pull-requests: write)."
    if error.status == 404:
        return f"not found ({text})", "Check --repo and --pr, and that the token may read it."
    return f"{text} (status {error.status})", None
