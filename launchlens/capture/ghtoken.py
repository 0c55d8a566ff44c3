"""The token that the GitHub command line (gh) keeps; here since only capture starts programs."""

from __future__ import annotations

import shutil
import subprocess

TIMEOUT_S = 10.0


def read_gh_token(hostname: str = "github.com") -> str | None:
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
            timeout=TIMEOUT_S,
            check=False,
            text=True,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return said.stdout.strip() or None if said.returncode == 0 else None
