"""Where the token comes from, and where it may be sent. It is never printed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from launchlens.errors import UsageError

API_VARIABLE = "GITHUB_API_URL"
DEFAULT_API = "https://api.github.com"
TOKEN_VARIABLES = ("GITHUB_TOKEN", "GH_TOKEN")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def find_token(environ: Mapping[str, str] = os.environ) -> str | None:
    """The token in $GITHUB_TOKEN or $GH_TOKEN, None without one."""
    for name in TOKEN_VARIABLES:
        if token := environ.get(name, "").strip():
            return token
    return None


def find_api_url(api_url: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """The API's address: the argument, else $GITHUB_API_URL (Enterprise), else GitHub's own.

    Raises:
        UsageError: it is no address, or the token would travel unencrypted.
    """
    url = (api_url or environ.get(API_VARIABLE) or DEFAULT_API).rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{url!r} is no address of an API.", hint=f"Look at ${API_VARIABLE}.")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise UsageError(f"The API {url} would get the token unencrypted.", hint="Use https.")
    return url


def hostname_of(api_url: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """The host that ``gh auth token --hostname`` knows this API by."""
    host = urlsplit(find_api_url(api_url, environ)).hostname or ""
    return "github.com" if host == "api.github.com" else host.removeprefix("api.")
