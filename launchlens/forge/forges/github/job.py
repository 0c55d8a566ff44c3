"""What GitHub Actions tells a job in its environment and in the file of its event.

https://docs.github.com/en/actions/reference/workflows-and-actions/variables
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from launchlens.forge.interface import Job


def read_job(environ: Mapping[str, str] = os.environ) -> Job | None:
    """Repository, pull request and commit; None outside of GitHub Actions.

    The commit of a pull request is its head: $GITHUB_SHA is a merge that GitHub made for the job.
    """
    repo = environ.get("GITHUB_REPOSITORY", "")
    if not repo:
        return None
    event, built = _read_event(environ.get("GITHUB_EVENT_PATH", "")), environ.get("GITHUB_SHA")
    is_pull = _at(event, dict, "issue", "pull_request") is not None
    number = (
        _at(event, int, "pull_request", "number")
        or (_at(event, int, "issue", "number") if is_pull else None)
        or _at(event, int, "workflow_run", "pull_requests", 0, "number")
        or _number_in(environ.get("GITHUB_REF", ""))
    )
    head = _at(event, str, "pull_request", "head", "sha") or _at(
        event, str, "workflow_run", "head_sha"
    )
    if number is None and head is None:
        head = built  # a push: what was built is what was pushed
    return Job(repo, number or None, head or None, built or None)


def _read_event(path: str) -> Any:
    """The event as JSON; None where there is no such file or it is none."""
    try:
        return json.loads(Path(path).read_text("utf-8")) if path else None
    except (OSError, ValueError):
        return None


def _at(event: Any, kind: type, *path: str | int) -> Any:
    """What stands at a path of names and places, if it is of this kind."""
    for step in path:
        try:
            event = event[step]
        except (TypeError, KeyError, IndexError):
            return None
    return event if isinstance(event, kind) else None


def _number_in(ref: str) -> int | None:
    """The number in "refs/pull/7/merge"."""
    found = re.fullmatch(r"refs/pull/(\d+)/\w+", ref)
    return int(found[1]) if found else None
