"""Runs of the version before the house was rebuilt (old_runs/) open, migrate and say the same.

The folder was written by that version's own code: two runs of eager, cudagraph (whole-graph trace)
and breakable (failed). It is never opened itself, only copies of it.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from launchlens import store
from launchlens.catalogue import gap_causes, step_metrics
from launchlens.records.figures import Analysis
from launchlens.store.files import read_record

OLD = Path(__file__).parent / "old_runs"
NEWEST = "20261201-120000-qwen3-0-6b-axd"
OLDEST = "20261130-120000-qwen3-0-6b-nmz"


@pytest.fixture
def root(tmp_path):
    return Path(shutil.copytree(OLD, tmp_path / "runs"))


def columns(root, table):
    with sqlite3.connect(root / "runs.db") as db:
        return {row[1] for row in db.execute(f"PRAGMA table_info({table})")}


def test_they_are_listed(root):
    newest, oldest = store.list_runs(root)
    assert (newest.id, oldest.id) == (NEWEST, OLDEST)
    for row, dirty in ((newest, True), (oldest, False)):
        assert (row.status, row.gpu, row.git_dirty) == ("complete", "NVIDIA H200", dirty)
        assert (row.variants, row.failed) == (("eager", "cudagraph", "breakable"), ("breakable",))


def test_the_database_gets_what_it_lacks_and_keeps_what_it_has(root):
    before = sqlite3.connect(root / "runs.db")
    kept = before.execute("SELECT launches, gap_host_ns, busy_ns, range FROM steps").fetchall()
    assert "bound" not in columns(root, "figures")
    before.execute("ALTER TABLE steps DROP COLUMN tklqt_ns")  # as if the metric were new
    before.close()
    store.list_runs(root)
    gaps = {f"gap_{cause}_ns" for cause in gap_causes()}
    assert columns(root, "steps") >= gaps | {
        m.name for m in step_metrics() if not m.name.startswith("gaps_ns.")
    }
    after = sqlite3.connect(root / "runs.db")
    assert (
        after.execute("SELECT launches, gap_host_ns, busy_ns, range FROM steps").fetchall() == kept
    )
    assert len(kept) == 16
    assert after.execute("SELECT DISTINCT tklqt_ns FROM steps").fetchall() == [(None,)]
    bounds = dict(after.execute("SELECT DISTINCT metric, bound FROM figures WHERE bound NOT NULL"))
    assert bounds == {
        "idle": "lower",
        "idle_kernels_only": "lower",
        "idle_projected": "lower",
        "gaps_ns.device": "lower",
        "busy_ns": "upper",
        "kernel_busy_ns": "upper",
    }
    assert after.execute("PRAGMA foreign_key_check").fetchall() == []


def test_a_run_is_read_whole(root):
    run = store.resolve_run(root, "axd")
    assert (run.id, run.model, run.environment["torch"]) == (NEWEST, "Qwen/qwen3-0.6b", "2.9.0")
    assert run.commands == {"eager: node": ("nsys", "profile")}
    eager, cudagraph, breakable = run.variants.values()
    assert eager.facts.untraced[0].wall_ns.median == 46_000_000
    assert cudagraph.facts.requests[0].ttft_ns == 5_000_000
    assert cudagraph.traces["graph"].file.is_file()
    assert (breakable.status, breakable.facts.failure.source) == ("failed", "modeling.py:17")
    (finding,) = breakable.findings
    assert (finding.rule, finding.count_per_step, finding.bytes) == ("pageable-htod", 6, 4)


def test_figures_of_graphs_traced_whole_are_bounds(root):
    variant = store.resolve(root, f"{NEWEST}:cudagraph")
    analysis = read_record(variant.traces["graph"].analysis_file, Analysis)
    (group,) = analysis.summary
    assert {name: s.bound for name, s in group.metrics.items() if s.bound} == {
        "idle": "lower",
        "idle_kernels_only": "lower",
        "idle_projected": "lower",
        "gaps_ns.device": "lower",
        "busy_ns": "upper",
        "kernel_busy_ns": "upper",
    }
    assert len(analysis.steps) == 8


def test_a_metric_newer_than_the_figures_is_unknown_in_them(root):
    variant = store.resolve(root, f"{NEWEST}:cudagraph")
    file = variant.traces["graph"].analysis_file
    document = json.loads(file.read_text())
    for step in document["steps"]:
        del step["launch_cost_ns"]
    del document["summary"][0]["metrics"]["launch_cost_ns"]
    file.write_text(json.dumps(document))
    analysis = read_record(file, Analysis)
    assert {step.launch_cost_ns for step in analysis.steps} == {None}
    assert {step.launches for step in analysis.steps} == {1}


def test_trend(root):
    (series,) = store.trend(root, "idle")
    assert [(p.run_id, p.bound) for p in series.points] == [(OLDEST, "lower"), (NEWEST, "lower")]
    assert (series.phase, series.source) == ("prefill", "graph")
    walls = store.trend(root, "untraced_ns", variant="eager")[0].points
    assert [(p.value, p.bound) for p in walls] == [(47_400_000, None), (46_000_000, None)]


def test_a_new_run_goes_beside_them_and_they_can_be_removed(root):
    with store.create_run(root, model="m", arguments={}) as run:
        pass
    assert store.remove_run(root, OLDEST) == OLDEST
    assert {row.id for row in store.list_runs(root)} == {NEWEST, run.id}
    assert not (root / OLDEST).exists()
