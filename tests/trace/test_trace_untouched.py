"""The user's file stays as it is: bytes, times, and nothing new beside it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from build_trace import TraceBuilder

from launchlens.metrics import summarize
from launchlens.trace import read_trace


def drawn():
    trace = TraceBuilder()
    trace.range("prefill#0", 0, 100)
    trace.launch(10, 15, kernel=(20, 40))
    return trace


def state(folder: Path):
    return {
        p.name: (p.read_bytes(), p.stat().st_mtime_ns, p.stat().st_mode)
        for p in sorted(folder.iterdir())
    }


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_reading_changes_nothing(tmp_path, mode):
    path = drawn().write(tmp_path / "t.sqlite")
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA journal_mode={mode}")
    db.close()
    assert [p.name for p in tmp_path.iterdir()] == ["t.sqlite"]
    assert path.read_bytes()[18] == (2 if mode == "wal" else 1), "the header names the mode"
    before = state(tmp_path)
    assert summarize(read_trace(path)).steps[0].kernels == 1
    assert state(tmp_path) == before


def test_a_read_only_file_in_a_read_only_folder(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    path = drawn().write(folder / "t.sqlite")
    path.chmod(0o444)
    folder.chmod(0o555)
    try:
        assert read_trace(path).info.ops == 1
    finally:
        folder.chmod(0o755)


def test_temporary_copies_of_compressed_traces_are_removed(tmp_path, monkeypatch):
    import gzip
    import tempfile

    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    path = tmp_path / "t.sqlite.gz"
    path.write_bytes(gzip.compress(drawn().write(tmp_path / "t.sqlite").read_bytes()))
    read_trace(path)
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(Exception, match="damaged or truncated"):
        read_trace(path)
    assert list(scratch.iterdir()) == []


def test_a_writer_that_holds_the_file_does_not_stop_the_reader(tmp_path):
    path = drawn().write(tmp_path / "t.sqlite")
    with sqlite3.connect(path, isolation_level=None) as db:
        db.execute("BEGIN EXCLUSIVE")
        assert read_trace(path).info.ops == 1
        db.execute("ROLLBACK")
    db.close()
