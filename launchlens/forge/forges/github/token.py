"""Where the token comes from, and where it may be sent. It is never printed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from urllib.parse import urlsplit

from launchlens.errors import UsageError

API_VARIABLE = "GITHUB_API_URL"
DEFAULT_API = "https://api.github.com"
TOKEN_VARIABLES = ("GITHUB_TOKEN", "GH_TOKEN")
GH_TIMEOUT_S = 10.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def find_token(api_url: str, environ: Mapping[str, str] = os.environ) -> str:
    """The token in $GITHUB_TOKEN or $GH_TOKEN, else the one that gh keeps for the API's host.

    Raises:
        UsageError: there is none.
    """
    for name in TOKEN_VARIABLES:
        if token := environ.get(name, "").strip():
            return token
    host = urlsplit(api_url).hostname or ""
    host = "github.com" if host == "api.github.com" else host.removeprefix("api.")
    if kept := _read_gh_token(host):
        return kept
    names = " or ".join(f"${name}" for name in TOKEN_VARIABLES)
    raise UsageError("There is no token for GitHub.", hint=f"Set {names}, or log in to gh.")


def find_api_url(environ: Mapping[str, str] = os.environ) -> str:
    """The API's address: $GITHUB_API_URL (Enterprise), else GitHub's own.

    Raises:
        UsageError: it is no address, or the token would travel unencrypted.
    """
    url = (environ.get(API_VARIABLE) or DEFAULT_API).rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{url!r} is no address of an API.", hint=f"Look at ${API_VARIABLE}.")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise UsageError(f"The API {url} would get the token unencrypted.", hint="Use https.")
    return url


def _read_gh_token(hostname: str) -> str | None:
    """What ``gh auth token`` says for a host; None when gh is missing, hangs, or not logged in.

    Its output never goes to a log or an error: it is a secret.
    """
    gh = shutil.which("gh")
    if gh is None:
        return None
    try:
        said = subprocess.run(
            [gh, "auth", "token", "--hostname", hostname],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GH_TIMEOUT_S,
            check=False,
            text=True,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return said.stdout.strip() or None if said.returncode == 0 else None
