"""Small exports that fail in one way each, and the program read as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from launchlens.cli.main import main

DATA = Path(__file__).parent / "data"


@pytest.fixture
def cli(capsys, monkeypatch):
    """Types a command; returns (exit code, standard output, standard error)."""
    monkeypatch.setenv("COLUMNS", "100")

    def type_in(*arguments):
        words = [str(DATA / a) + ".sqlite.xz" if (DATA / f"{a}.sqlite.xz").exists() else a
                 for a in map(str, arguments)]  # fmt: skip
        monkeypatch.setattr(sys, "argv", ["launchlens", *words])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return type_in


@pytest.fixture
def analyzed(cli):
    """The JSON that `analyze` prints of a trace, by the name of its file."""

    def analyze(*arguments):
        code, out, err = cli("analyze", *arguments, "--format", "json")
        assert code == 0, err
        return json.loads(out)

    return analyze


@pytest.fixture
def said(cli):
    """What `analyze` prints of a trace, on one line."""

    def analyze(*arguments):
        code, out, err = cli("analyze", *arguments)
        assert code == 0, err
        return " ".join(out.split())

    return analyze


@pytest.fixture
def compared(cli):
    """The rows of a comparison with the healthy trace, by metric: the candidate's cells."""

    def diff(name, base="baseline"):
        code, out, err = cli("diff", base, name, "--format", "json")
        assert code == 0, err
        return {row["metric"]: row["cells"][1] for row in json.loads(out)["phases"][0]["rows"]}

    return diff
