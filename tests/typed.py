"""Commands as a user types them: in this process, or in one of their own."""

from __future__ import annotations

import subprocess
import sys

from launchlens.cli.main import main


def type_in(words, capsys, monkeypatch):
    """Types a command in this process; returns (exit code, standard output, standard error)."""
    monkeypatch.setattr(sys, "argv", ["launchlens", *map(str, words)])
    capsys.readouterr()
    code = 0
    try:
        main()
    except SystemExit as end:
        code = end.code or 0
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def run(*words):
    """The program in a process of its own, finished."""
    return subprocess.run(
        [sys.executable, "-m", "launchlens", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )
