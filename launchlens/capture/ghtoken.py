"""The token that the GitHub command line (gh) keeps; here since only capture starts programs."""

from __future__ import annotations

import shutil
import subprocess

TIMEOUT_S = 10.0


def read_gh_token(hostname: str = "github.com") -> str | None:
    """What ``gh auth token`` says for a host.

    Its output never goes to a log or an error: it is a secret.

    Args:
        hostname: "github.com", or the host of a GitHub Enterprise server.

    Returns:
        The token, None when gh is missing, hangs, or is not logged in there.
    """
    gh = shutil.which("gh")
    if gh is None:
        return None
    try:
        said = subprocess.run(
            [gh, "auth", "token", "--hostname", hostname],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            text=True,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return said.stdout.strip() or None if said.returncode == 0 else None
