"""Runs: kept, listed, found, removed; also when their process was killed."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

import handmade
import pytest

from launchlens import store
from launchlens.errors import StoreError, UsageError
from launchlens.records.figures import Analysis, Step
from launchlens.records.variant import Failure, RequestFigures, Untraced, VariantFacts
from launchlens.store.database import open_database
from launchlens.store.files import read_record

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
FACTS = VariantFacts(
    model="qwen3-0.6b",
    variant="eager",
    isl=25,
    batch=1,
    dtype="bfloat16",
    untraced=(Untraced("prefill", handmade.stat(47_400_000), (47_300_000, 47_500_000)),),
    requests=(RequestFigures(25, 5, 1, 48_000_000, 9_000_000, 84_000_000, 11.9, 59.5, 10),),
    peak_memory_bytes=2**30,
)


def make_run(root, *, now=NOON, model="google/Gemma-4-E4B-it", variants=("eager",), **changes):
    environment = {"gpu": "NVIDIA H200", "git_commit": "a" * 40, "git_dirty": False}
    with store.create_run(
        root,
        model=model,
        arguments={"model": model, "isl": 25},
        environment=environment | changes,
        now=now,
    ) as run:
        for name in variants:
            run.save_variant(name, "ok", FACTS)
            trace = run.traces / f"{name}.sqlite"
            trace.touch()
            run.save_steps(name, "node", trace, handmade.analysis())
    return run


def test_run_folder_and_rows_tell_the_same(tmp_path):
    run = make_run(tmp_path)
    assert run.id.startswith("20261130-120000-gemma-4-e4b-it-")
    (row,) = store.list_runs(tmp_path)
    assert (row.id, row.status, row.variants) == (run.id, "complete", ("eager",))
    assert (row.gpu, row.git_commit, row.git_dirty) == ("NVIDIA H200", "a" * 40, False)
    loaded = store.load_run(run.folder)
    assert (loaded.status, loaded.arguments["isl"]) == ("complete", 25)
    assert loaded.variants["eager"].facts == FACTS
    saved = loaded.variants["eager"].traces["node"].analysis_file
    assert read_record(saved, Analysis) == handmade.analysis()


def test_every_figure_of_a_step_is_a_column(tmp_path):
    run = make_run(tmp_path)
    db = sqlite3.connect(tmp_path / "runs.db")
    db.row_factory = sqlite3.Row
    (row, _) = db.execute("SELECT * FROM steps ORDER BY row").fetchall()
    expected = handmade.analysis().steps[0]
    for field in fields(Step):
        if field.name == "bounds":
            assert json.loads(row["bounds"]) == expected.bounds
        elif field.name != "gaps_ns":
            assert row[field.name] == getattr(expected, field.name), field.name
    gaps = {f"gap_{f.name}_ns": getattr(expected.gaps_ns, f.name) for f in fields(expected.gaps_ns)}
    assert {name: row[name] for name in gaps} == gaps
    assert (row["run_id"], row["variant"], row["trace_kind"]) == (run.id, "eager", "node")
    median = "SELECT median FROM figures WHERE metric='launches'"
    assert db.execute(median).fetchone()[0] == 3828
    assert db.execute("SELECT ttft_ns FROM requests").fetchone()[0] == 48_000_000


def test_tables_have_foreign_keys_and_no_blobs_for_datasette(tmp_path):
    make_run(tmp_path)
    db = sqlite3.connect(tmp_path / "runs.db")
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    tables = {r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type='table'")}
    ours = {t for t in tables if not t.startswith(("_", "sqlite_"))}
    assert ours == {
        "runs", "variants", "traces", "steps", "figures", "requests", "equivalence", "forecasts"
    }  # fmt: skip
    for table in ours - {"runs"}:
        assert db.execute(f"PRAGMA foreign_key_list({table})").fetchall()
        types = {r[2] for r in db.execute(f"PRAGMA table_info({table})")}
        assert types <= {"TEXT", "INTEGER", "REAL"}


def test_saving_again_replaces_and_keeps_steps(tmp_path):
    with store.create_run(tmp_path, model="m", arguments={}) as run:
        run.save_variant("eager", "ok", FACTS)
        trace = run.traces / "eager.sqlite"
        trace.touch()
        run.save_steps("eager", "node", trace, handmade.analysis(steps=5))
        run.save_steps("eager", "node", trace, handmade.analysis(steps=2))
        run.save_variant("eager", "ok", FACTS)
    db = sqlite3.connect(tmp_path / "runs.db")
    counts = {
        t: db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in ("steps", "requests")
    }
    assert counts == {"steps": 2, "requests": 1}


def test_failed_variant_is_a_result(tmp_path):
    failure = Failure("RuntimeError", "Cannot copy", "modeling_gemma3n.py:1727", "Use a buffer.")
    with store.create_run(tmp_path, model="m", arguments={}) as run:
        run.save_variant("cudagraph", "failed", VariantFacts(failure=failure))
    (row,) = store.list_runs(tmp_path)
    assert (row.status, row.failed) == ("complete", ("cudagraph",))
    variant = store.resolve(tmp_path, f"{run.id}:cudagraph")
    assert variant.facts.failure == failure
    assert variant.traces == {}


def test_what_stood_in_the_way_is_kept_with_the_variant(tmp_path):
    found = (handmade.finding(), handmade.finding(confidence="confirmed", stack=("a.py:1 in f",)))
    with store.create_run(tmp_path, model="m", arguments={}) as run:
        run.save_variant("eager", "ok", FACTS)
        run.save_variant("cudagraph", "failed", VariantFacts())
        run.save_findings("cudagraph", found)
        with pytest.raises(StoreError, match="has no variant compile"):
            run.save_findings("compile", found)
    variants = store.load_run(run.folder).variants
    assert variants["cudagraph"].findings == found
    assert variants["eager"].findings == ()


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (StoreError("The disk is full."), "failed", "The disk is full."),
        (ValueError("odd"), "failed", "ValueError: odd"),
        (KeyboardInterrupt(), "incomplete", "interrupted"),
    ],
)
def test_an_error_ends_the_run(tmp_path, error, status, reason):
    with pytest.raises(type(error)), store.create_run(tmp_path, model="m", arguments={}):
        raise error
    (row,) = store.list_runs(tmp_path)
    assert (row.status, row.reason) == (status, reason)


KILLED = """
    import os, signal, sys
    from pathlib import Path
    sys.path.insert(0, {tests!r})
    import handmade
    from launchlens import store
    from launchlens.records.variant import VariantFacts
    from launchlens.store.database import open_database

    root = Path({root!r})
    run = store.create_run(root, model="m", arguments={{}})
    run.save_variant("eager", "ok", VariantFacts())
    trace = run.traces / "eager.sqlite"
    trace.touch()
    run.save_steps("eager", "node", trace, handmade.analysis())
    with open_database(root) as db:
        db.conn.execute("BEGIN IMMEDIATE")
        db.execute("DELETE FROM steps")  # half a transaction is all that was done
        print("ready", flush=True)
        signal.pause()
"""


def test_a_killed_run_leaves_the_database_intact_and_is_marked_incomplete(tmp_path):
    program = textwrap.dedent(KILLED).format(
        tests=str(Path(__file__).parents[1]), root=str(tmp_path)
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"ready\n"
        before = sqlite3.connect(tmp_path / "runs.db").execute("SELECT status FROM runs").fetchone()
        assert before == ("running",)
        os.kill(child.pid, signal.SIGKILL)
    (row,) = store.list_runs(tmp_path)
    assert row.status == "incomplete"
    db = sqlite3.connect(tmp_path / "runs.db")
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert db.execute("SELECT count(*) FROM steps").fetchone() == (2,)
    assert json.loads((tmp_path / row.id / "run.json").read_text())["status"] == "incomplete"


def test_a_running_run_is_left_alone(tmp_path):
    run = store.create_run(tmp_path, model="m", arguments={})
    assert store.list_runs(tmp_path)[0].status == "running"
    with pytest.raises(StoreError, match="still running"):
        store.remove_run(tmp_path, run.id)
    run.finish()
    assert store.list_runs(tmp_path)[0].status == "complete"


def test_references(tmp_path):
    old = make_run(tmp_path, now=NOON.replace(hour=10), variants=("eager", "cudagraph"))
    new = make_run(tmp_path, now=NOON, variants=("eager",))

    def found(reference):
        return store.resolve(tmp_path, reference).reference

    assert found(f"{old.id}:cudagraph") == f"{old.id}:cudagraph"
    assert found("20261130-10:eager") == f"{old.id}:eager"
    assert found(f"{new.id[-3:]}:eager") == f"{new.id}:eager"
    assert found(new.id) == f"{new.id}:eager"  # its only variant
    assert found("latest:eager") == f"{new.id}:eager"
    assert found("latest:cudagraph") == f"{old.id}:cudagraph"
    assert found(f"{old.folder}:eager") == f"{old.id}:eager"
    assert store.resolve(tmp_path / "x", f"{tmp_path}:eager").reference == f"{new.id}:eager"
    assert store.resolve_run(tmp_path / "x", str(tmp_path)).id == new.id


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("20261130:eager", "several"),
        ("2025:eager", "no run '2025'"),
        ("20261130-10:piecewise", "It has: eager, cudagraph"),
        ("20261130-10", "Which variant"),
        ("latest:piecewise", "No complete run"),
        ("", "no run ''"),
    ],
)
def test_references_that_name_nothing(tmp_path, reference, said):
    make_run(tmp_path, now=NOON.replace(hour=10), variants=("eager", "cudagraph"))
    make_run(tmp_path, now=NOON)
    with pytest.raises(StoreError, match=said):
        store.resolve(tmp_path, reference)


def test_a_root_without_runs_is_not_made(tmp_path):
    root = tmp_path / "none"
    assert store.list_runs(root) == ()
    with pytest.raises(StoreError, match="no run 'x'"):
        store.resolve_run(root, "x")
    assert not root.exists()


def test_remove_takes_folder_and_rows(tmp_path):
    run, kept = make_run(tmp_path), make_run(tmp_path, now=NOON.replace(year=2027))
    assert store.remove_run(tmp_path, run.id) == run.id
    assert not run.folder.exists()
    assert [row.id for row in store.list_runs(tmp_path)] == [kept.id]
    db = sqlite3.connect(tmp_path / "runs.db")
    for table in ("variants", "steps", "figures", "requests", "traces"):
        column = "run_id" if table in ("variants", "steps") else "variant_id"
        left = db.execute(f"SELECT DISTINCT {column} FROM {table}").fetchall()
        assert all(value.startswith(kept.id) for (value,) in left)


@pytest.mark.parametrize("reference", ["..", "../other", "/", "", "latest", "."])
def test_remove_refuses_what_is_no_run(tmp_path, reference):
    root = tmp_path / "runs"
    make_run(root)
    (tmp_path / "other").mkdir()
    with pytest.raises(StoreError):
        store.remove_run(root, reference)
    assert (tmp_path / "other").is_dir()


def test_remove_refuses_a_row_or_link_that_leads_out(tmp_path):
    root = tmp_path / "runs"
    run = make_run(root)
    outside = tmp_path / "outside"
    run.folder.rename(outside)
    run.folder.symlink_to(outside)
    with pytest.raises(StoreError, match="link"):
        store.remove_run(root, run.id)
    with open_database(root) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute("UPDATE runs SET id = '../outside', folder = '../outside'")
        db.commit()
    with pytest.raises(StoreError):
        store.remove_run(root, "../outside")
    assert (outside / "run.json").is_file()


def test_a_run_json_must_not_point_out_of_its_folder(tmp_path):
    run = make_run(tmp_path)
    path = run.folder / "run.json"
    text = path.read_text().replace("results/eager.facts.json", "../../secret.json")
    path.write_text(text)
    with pytest.raises(StoreError, match="points out"):
        store.load_run(run.folder)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema": "launchlens.run/1"}', "\xff"])
def test_a_damaged_run_json_is_one_sentence(tmp_path, text):
    run = make_run(tmp_path)
    (run.folder / "run.json").write_text(text, encoding="latin-1")
    with pytest.raises(StoreError, match=r"run\.json"):
        store.load_run(run.folder)


def test_a_missing_folder_is_told_and_can_be_removed(tmp_path):
    run = make_run(tmp_path)
    run.folder.rename(tmp_path / "elsewhere")
    assert store.list_runs(tmp_path)[0].missing
    store.remove_run(tmp_path, run.id)
    assert store.list_runs(tmp_path) == ()


def test_a_file_that_is_no_database_is_one_sentence(tmp_path):
    (tmp_path / "runs.db").write_text("not a database, but long enough to be read as one" * 40)
    with pytest.raises(StoreError, match="cannot be used"):
        store.list_runs(tmp_path)


def test_a_database_of_a_newer_version_is_refused(tmp_path):
    make_run(tmp_path)
    with open_database(tmp_path) as db:
        row = {"migration_set": "launchlens", "name": "m999_new", "applied_at": "2027"}
        db.table("_sqlite_migrations").insert(row)
    with pytest.raises(StoreError, match="newer launchlens"):
        store.list_runs(tmp_path)


def test_an_older_database_is_brought_up_to_date(tmp_path):
    make_run(tmp_path)
    with open_database(tmp_path) as db:
        db.execute("DROP INDEX runs_created")
        db.execute("DROP INDEX steps_run")
        db.execute("DROP INDEX figures_metric")
        db.table("_sqlite_migrations").delete_where("name = 'm002_indexes'")
        db.commit()
    assert len(store.list_runs(tmp_path)) == 1
    names = sqlite3.connect(tmp_path / "runs.db").execute(
        "SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE 'runs_created'"
    )
    assert names.fetchone() is not None


def test_runs_can_begin_at_once(tmp_path):
    failures = []

    def begin():
        try:
            make_run(tmp_path)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=begin) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(store.list_runs(tmp_path)) == 4


def test_an_unwritable_root_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="No run folder can be made"):
        store.create_run(tmp_path / "file", model="m", arguments={})


def test_runs_root(tmp_path):
    assert store.runs_root(None, {}) == Path("launchlens-runs")
    assert store.runs_root(None, {"LAUNCHLENS_RUNS": "/x"}) == Path("/x")
    assert store.runs_root(tmp_path, {"LAUNCHLENS_RUNS": "/x"}) == tmp_path


def test_unknown_environment_is_refused(tmp_path):
    with pytest.raises(StoreError, match="no column for cpu"):
        store.create_run(tmp_path, model="m", arguments={}, environment={"cpu": 1})


def test_a_trace_outside_the_run_is_refused(tmp_path):
    with store.create_run(tmp_path, model="m", arguments={}) as run:
        run.save_variant("eager", "ok", FACTS)
        with pytest.raises(StoreError, match="outside"):
            run.save_steps("eager", "node", tmp_path / "x.sqlite", handmade.analysis())
        with pytest.raises(StoreError, match="no variant"):
            run.save_steps("other", "node", run.traces / "x.sqlite", handmade.analysis())


def test_trend_by_run(tmp_path):
    first = make_run(tmp_path, now=NOON.replace(day=28))
    second = make_run(tmp_path, git_commit="b" * 40, git_dirty=True, variants=("eager", "compile"))
    series = store.trend(tmp_path, "launches", variant="eager")
    (eager,) = series
    assert [(p.run_id, p.value, p.git_dirty) for p in eager.points] == [
        (first.id, 3828, False),
        (second.id, 3828, True),
    ]
    assert (eager.phase, eager.source) == ("prefill", "node")
    assert eager.shape == "ISL 25, batch 1, bfloat16"
    assert {s.variant for s in store.trend(tmp_path, "launches")} == {"eager", "compile"}
    assert store.trend(tmp_path, "untraced_ns")[0].points[0].value == 47_400_000
    assert store.trend(tmp_path, "ttft_ns")[0].shape.endswith("concurrency 1")
    assert store.trend(tmp_path, "peak_memory_bytes")[0].points[0].value == 2**30


def test_trend_never_joins_what_cannot_be_compared(tmp_path):
    make_run(tmp_path, now=NOON.replace(day=28))
    make_run(tmp_path, gpu="NVIDIA B200")
    make_run(tmp_path, now=NOON.replace(day=29), config_digest="shortened")
    assert [len(s.points) for s in store.trend(tmp_path, "launches")] == [1, 1, 1]


def test_trend_of_an_unknown_metric_offers_near_ones(tmp_path):
    with pytest.raises(StoreError, match="no runs"):
        store.trend(tmp_path, "launches")
    make_run(tmp_path)
    with pytest.raises(UsageError, match="launches"):
        store.trend(tmp_path, "lunches")
    with pytest.raises(StoreError, match="for model other"):
        store.trend(tmp_path, "launches", model="other")
