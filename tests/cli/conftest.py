"""The program in this process, for tests that type many commands."""

from __future__ import annotations

import pytest
import stored_runs
from typed import type_in


@pytest.fixture
def cli(capsys, monkeypatch):
    """Types a command; returns (exit code, standard output, standard error)."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("LAUNCHLENS_RUNS", raising=False)

    return lambda *arguments: type_in(arguments, capsys, monkeypatch)


@pytest.fixture
def fails(cli):
    """Types a command that must end in one sentence; returns it."""

    def type_in(*arguments, code=1):
        returned, out, err = cli(*arguments)
        assert (returned, out) == (code, "")
        assert len(err.strip().splitlines()) == 1, err
        assert err.startswith("launchlens: ")
        return err

    return type_in


@pytest.fixture(scope="session")
def stored(tmp_path_factory):
    """A folder with three runs, the second with changed files and a variant that failed."""
    root = tmp_path_factory.mktemp("stored") / "runs"
    stored_runs.make_run(root)
    stored_runs.make_run(
        root, day=1, eager_ns=48_300_000, commit="b" * 40, dirty=True, failed=("breakable",)
    )
    stored_runs.make_run(root, day=2, eager_ns=40_300_000, captured_ns=4_500_000, commit="c" * 40)
    return root
