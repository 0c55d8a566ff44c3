"""Small exports that fail in one way each, and the program read as JSON."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest
from build_trace import TraceBuilder
from typed import type_in

from launchlens.metrics import summarize
from launchlens.trace import read_trace

DATA = Path(__file__).parent / "data"


@pytest.fixture
def cli(capsys, monkeypatch):
    """Types a command; returns (exit code, standard output, standard error)."""
    monkeypatch.setenv("COLUMNS", "100")

    def typed(*arguments):
        paths = (DATA / f"{a}.sqlite.xz" for a in arguments)
        words = [p if p.exists() else a for p, a in zip(paths, arguments, strict=True)]
        return type_in(words, capsys, monkeypatch)

    return typed


@pytest.fixture
def drawn():
    """A trace of one step, to which a test draws calls and operations."""
    trace = TraceBuilder()
    trace.range("prefill#0", 0, 100_000)
    return trace


@pytest.fixture
def analyze(tmp_path):
    """The figures of a drawn trace, which SQL may have changed before."""

    def measure(trace, sql=(), **options):
        path = trace.write(tmp_path / "t.sqlite")
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            for statement in sql:
                db.execute(statement)
        return summarize(read_trace(path), **options)

    return measure


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
