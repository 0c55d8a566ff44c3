"""``kill -9`` at any moment of a run's life: its folder and its row never part."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sqlite3
import sys
import time
import traceback

import handmade
import pytest

from launchlens import store
from launchlens.errors import StoreError
from launchlens.records.variant import Untraced, VariantFacts
from launchlens.store import register

FACTS = VariantFacts(
    model="qwen3-0.6b",
    variant="eager",
    untraced=(Untraced("prefill", handmade.stat(47_400_000), (47_300_000, 47_500_000)),),
)


def live(root):
    """All that a run does, from its beginning to its end."""
    with store.create_run(root, model="qwen3-0.6b", arguments={"isl": 25}) as run:
        run.record_command("eager: trace", ["nsys", "profile"])
        for name in ("eager", "cudagraph"):
            run.save_variant(name, "ok", FACTS)
            trace = run.traces / f"{name}.sqlite"
            trace.touch()
            run.save_steps(name, "node", trace, handmade.analysis())


def in_child(work):
    """Runs ``work`` in a forked process; its exit status, negative for a signal."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def calls_of_a_life(root):
    """How many calls of C functions (system calls, SQL, files) a run's life has."""
    seen = 0

    def count(_frame, event, _argument):
        nonlocal seen
        seen += event == "c_call"

    sys.setprofile(count)
    try:
        live(root)
    finally:
        sys.setprofile(None)
    return seen


def killed_at(root, number):
    """A run whose process is killed before one of its calls of C functions."""

    def work():
        left = number

        def count(_frame, event, _argument):
            nonlocal left
            left -= event == "c_call"
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(count)
        live(root)

    return in_child(work)


def rows_and_folders(root):
    with sqlite3.connect(root / "runs.db") as db:
        rows = {row[0] for row in db.execute("SELECT id FROM runs")}
        variants = {tuple(row) for row in db.execute("SELECT run_id, name FROM variants")}
    folders = {p.parent.name for p in root.glob("*/run.json")}
    told = {
        (name, variant)
        for name in folders
        for variant in json.loads((root / name / "run.json").read_text())["variants"]
    }
    return rows, folders, variants, told


def test_folder_and_row_never_part(tmp_path, monkeypatch):
    monkeypatch.setattr(register, "STAGING_GRACE_S", -1.0)
    live(tmp_path / "first")  # so that imports are over
    total = calls_of_a_life(tmp_path / "whole")
    seen = set()
    for number in range(1, total - 50, max(1, total // 150)):
        root = tmp_path / str(number)
        assert killed_at(root, number) == -signal.SIGKILL
        listed = store.list_runs(root)
        seen.update((row.status, len(row.variants)) for row in listed)
        if not root.exists():
            continue
        rows, folders, variants, told = rows_and_folders(root)
        assert rows == {row.id for row in listed}
        assert folders <= rows
        assert all(row.missing == (row.id not in folders) for row in listed)
        assert variants == told
        assert "running" not in {row.status for row in listed}
        for row in listed:
            if not row.missing:
                assert tuple(store.load_run(root / row.id).variants) == row.variants
            store.remove_run(root, row.id)
        assert store.list_runs(root) == ()
        assert {p.name for p in root.iterdir()} <= {"runs.db", "runs.db-journal", ".gitignore"}
        shutil.rmtree(root)
    assert {("incomplete", n) for n in range(3)} <= seen
    assert seen <= {("incomplete", n) for n in range(3)} | {("complete", 2)}


def test_a_kill_between_folder_and_row_is_mended(tmp_path):
    live(tmp_path)
    (whole,) = store.list_runs(tmp_path)
    with sqlite3.connect(tmp_path / "runs.db") as db:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("DELETE FROM runs")
    assert store.list_runs(tmp_path) == (whole,)
    with sqlite3.connect(tmp_path / "runs.db") as db:
        assert db.execute("SELECT count(*) FROM steps").fetchone() == (4,)


@pytest.mark.parametrize("text", [None, "", "{}", "[" * 100_000, '{"id": NaN}'])
def test_a_folder_that_tells_nothing_is_listed_and_can_be_removed(tmp_path, text):
    live(tmp_path)
    folder = tmp_path / "20260101-000000-torn-abc"
    folder.mkdir()
    if text is not None:
        (folder / "run.json").write_text(text)
    whole, torn = store.list_runs(tmp_path)
    assert (torn.id, torn.status) == (folder.name, "incomplete")
    assert torn.created == "2026-01-01T00:00:00+00:00"
    store.remove_run(tmp_path, torn.id)
    assert store.list_runs(tmp_path) == (whole,)
    assert not folder.exists()


def test_a_full_disk_leaves_no_row_running_for_ever(tmp_path):
    """A limit on file sizes stands for the disk: it refuses writes in the same places."""

    seen = tmp_path / "refused"

    def work():
        with store.create_run(tmp_path / "runs", model="m", arguments={}) as run:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
            try:
                run.finish()
            except StoreError:
                seen.touch()
                os._exit(0)

    assert in_child(work) == 0
    assert seen.exists()
    (row,) = store.list_runs(tmp_path / "runs")
    assert row.status == "incomplete"
    store.remove_run(tmp_path / "runs", row.id)


def test_a_row_that_says_running_is_told_incomplete_where_nothing_can_be_written(
    tmp_path, monkeypatch
):
    def killed():
        store.create_run(tmp_path, model="m", arguments={})
        os.kill(os.getpid(), signal.SIGKILL)

    in_child(killed)

    def refused(*_):
        raise sqlite3.OperationalError("attempt to write a readonly database")

    monkeypatch.setattr(register, "_mark_incomplete", refused)
    assert [row.status for row in store.list_runs(tmp_path)] == ["incomplete"]


def test_a_run_that_is_just_being_made_is_left_alone(tmp_path):
    live(tmp_path)
    new = tmp_path / ".new-0123"
    new.mkdir()
    store.list_runs(tmp_path)
    assert new.is_dir()
    os.utime(new, (time.time() - 100,) * 2)
    store.list_runs(tmp_path)
    assert not new.exists()
