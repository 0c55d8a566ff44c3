"""Runs of strangers: rows and links lead nowhere, and nothing of theirs ends in a traceback."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from pathlib import Path

import handmade
import pytest

from launchlens import store
from launchlens.errors import LaunchlensError, StoreError
from launchlens.records.variant import VariantFacts


def make_run(root):
    with store.create_run(root, model="m", arguments={}) as run:
        run.save_variant("eager", "ok", VariantFacts(model="m", variant="eager"))
        trace = run.traces / "eager.sqlite"
        trace.touch()
        run.save_steps("eager", "node", trace, handmade.analysis())
    return run


def change(root, sql, *values):
    with sqlite3.connect(root / "runs.db") as db:
        db.execute(sql, values)


def sentence_of(ask, *arguments):
    """What a function refuses with; empty when it answers."""
    try:
        ask(*arguments)
    except LaunchlensError as error:
        return str(error)
    return ""


def test_a_row_names_no_folder_outside(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    text = json.dumps({"status": "running", "variants": {}})
    (outside / "run.json").write_text(text)
    run = make_run(tmp_path / "runs")
    change(run.root, "UPDATE runs SET folder = '../outside', status = 'running'")
    store.list_runs(run.root)
    assert (outside / "run.json").read_text() == text


def test_a_link_in_a_run_folder_is_not_written_through(tmp_path):
    precious = tmp_path / "precious.json"
    run = make_run(tmp_path / "runs")
    text = (run.folder / "run.json").read_text().replace('"complete"', '"running"')
    precious.write_text(text)
    (run.folder / "run.json").unlink()
    (run.folder / "run.json").symlink_to(precious)
    change(run.root, "UPDATE runs SET status = 'running'")
    assert [row.status for row in store.list_runs(run.root)] == ["incomplete"]
    assert precious.read_text() == text
    assert not (run.folder / "run.json").is_symlink()


def test_a_linked_folder_or_database_is_not_touched(tmp_path):
    run = make_run(tmp_path / "runs")
    other = tmp_path / "other"
    other.mkdir()
    (other / run.id).symlink_to(run.folder)
    assert store.list_runs(other) == ()
    (other / "runs.db").symlink_to(run.root / "runs.db")
    with pytest.raises(StoreError, match="link"):
        store.list_runs(other)


def test_a_pipe_in_place_of_the_lock_does_not_hang(tmp_path):
    run = make_run(tmp_path)
    (run.folder / ".lock").unlink()
    os.mkfifo(run.folder / ".lock")
    change(run.root, "UPDATE runs SET status = 'running'")
    began = time.monotonic()
    store.list_runs(tmp_path)
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("model", b"\xff\xfe\x00"),
        ("gpu", b"blob"),
        ("git_dirty", b"\x00"),
        ("git_dirty", "perhaps"),
        ("created", b"\xff"),
        ("reason", "control \x1b[31m"),
        ("git_commit", 17),
        ("arguments", b"\xff"),
        ("config_digest", b"\xff"),
    ],
)
def test_odd_values_in_the_database_are_one_sentence_or_told(tmp_path, column, value):
    make_run(tmp_path)
    change(tmp_path, f"UPDATE runs SET {column} = ?", value)
    for ask in (store.list_runs, lambda root: store.trend(root, "launches")):
        assert "\n" not in sentence_of(ask, tmp_path)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (
            "CREATE VIEW runs AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) "
            "SELECT x.* FROM x, n",
            "has a view ('runs')",
        ),
        ("CREATE TRIGGER t AFTER DELETE ON x BEGIN DELETE FROM x; END", "has a trigger ('t')"),
        ("CREATE TABLE runs (a, b)", "no such column"),
    ],
)
def test_a_database_of_another_make_is_refused_and_left_alone(tmp_path, sql, said):
    """The endless view would otherwise keep ``runs list`` busy for ever."""
    make_run(tmp_path)
    change(tmp_path, "PRAGMA legacy_alter_table = ON")
    change(tmp_path, "ALTER TABLE runs RENAME TO x")
    change(tmp_path, sql)
    assert said in sentence_of(store.list_runs, tmp_path)
    assert said in sentence_of(lambda root: store.trend(root, "launches"), tmp_path)


def test_a_database_that_another_program_holds_asks_for_patience(tmp_path, monkeypatch):
    make_run(tmp_path)
    monkeypatch.setattr("launchlens.store.database.LOCK_WAIT_S", 0.1)
    with contextlib.closing(sqlite3.connect(tmp_path / "runs.db")) as other:
        other.execute("BEGIN EXCLUSIVE")
        said = sentence_of(store.list_runs, tmp_path)
    assert "database is locked" in said
    assert "wait for its end" in said
    assert "move it away" not in said


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda p: p.symlink_to("/dev/zero")])
def test_what_is_no_file_is_no_database(tmp_path, make):
    make(tmp_path / "runs.db")
    assert "runs.db" in sentence_of(store.list_runs, tmp_path)


@pytest.mark.parametrize("value", [b"\xff\xfe", b"12", "text", float("inf")])
def test_odd_figures_in_the_database_are_unknown(tmp_path, value):
    make_run(tmp_path)
    change(tmp_path, "UPDATE figures SET median = ? WHERE metric = 'launches'", value)
    change(tmp_path, "UPDATE figures SET ci_low = ? WHERE metric = 'launches'", value)
    (series,) = store.trend(tmp_path, "launches")
    assert [point.value for point in series.points] == [None]


def test_text_that_is_not_utf8_is_read(tmp_path):
    make_run(tmp_path)
    change(tmp_path, "UPDATE runs SET model = CAST(X'6DFF' AS TEXT)")
    (row,) = store.list_runs(tmp_path)
    assert row.model == "m\ufffd"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"model": "m"', '"model": {"a": 1}'),
        ('"environment": {}', '"environment": {"gpu": ["a", {"b": 1}]}'),
        ('"commands": {}', '"commands": {"x": [1, 2]}'),
        ('"created": "', '"created": NaN, "x": "'),
        ('"variants": {', '"variants": {"x": 3, '),
        ('"arguments": {}', '"arguments": ' + '{"a": ' * 5000 + "1" + "}" * 5000),
    ],
)
def test_odd_values_in_run_json_are_one_sentence(tmp_path, old, new):
    run = make_run(tmp_path)
    path = run.folder / "run.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    change(run.root, "DELETE FROM runs")
    assert len(store.list_runs(tmp_path)) == 1
    said = sentence_of(store.load_run, run.folder)
    assert not said or "run.json" in said
