"""A metric of a step is a field of `Step` and one function: everything else follows.

The metric is invented for this test: bytes that the step's copies moved.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EAGER = ROOT / "traces/gemma-4-e4b-eager.nsys2025.3.sqlite.xz"
CAPTURED = ROOT / "traces/gemma-4-e4b-cudagraph.node.nsys2025.3.sqlite.xz"
BYTES = 4
"""Bytes of the copies in each eager step, as SQL sums them over MEMCPY joined to RUNTIME."""

FIELD = '''
    copied_bytes: Annotated[
        int | None,
        Metric("bytes copied", "bytes", "less", "headline", lacking_operations="lower"),
    ]
    """Bytes moved by the copies that the step owns."""
'''
FUNCTION = '''
"""Bytes that copies moved."""

import numpy as np

from launchlens.metrics.figures import figure
from launchlens.records.columns import OpKind


@figure
def copied_bytes(m):
    """Sum over the step's copies."""
    ops, copies = m.trace.ops, m.trace.copies
    moved = np.zeros(ops.kind.size, np.int64)
    moved[copies.op_row] = copies.bytes
    moved[ops.kind != OpKind.MEMCPY] = 0
    total = np.concatenate([[0], np.cumsum(moved[m.owned.order])])
    return m.where(m.countable, (total[m.owned.ops.high] - total[m.owned.ops.low]).tolist())
'''
STORE = """
from launchlens import store, read_trace, summarize
from launchlens.records.variant import VariantFacts
from pathlib import Path
import shutil, sys

with store.create_run(Path("runs"), model="m", arguments={}, environment={"gpu": "H200"}) as run:
    run.save_variant("eager", "ok", VariantFacts(model="m", variant="eager"))
    trace = run.traces / "eager.sqlite.xz"
    shutil.copy(sys.argv[1], trace)
    run.save_steps("eager", "node", trace, summarize(read_trace(trace)))
"""


@pytest.fixture
def with_metric(house):
    below = '"""Calls that allocate, free, register or map memory."""'
    house.insert("records/figures/step.py", FIELD, after=below)
    house.add("metrics/figures/copied_bytes.py", FUNCTION.lstrip())
    assert len(house.touched) == 2
    return house


def test_reports_of_one_trace_show_it(with_metric):
    for name in ("terminal", "markdown", "html"):
        assert "ytes copied" in with_metric.run("analyze", EAGER, "-f", name), name
    analysis = json.loads(with_metric.run("analyze", EAGER, "-f", "json"))
    assert {step["copied_bytes"] for step in analysis["steps"]} == {BYTES}
    (group,) = analysis["summary"]
    assert group["metrics"]["copied_bytes"]["median"] == BYTES
    head = with_metric.run("analyze", EAGER, "-f", "csv").splitlines()[0]
    assert "copied_bytes" in head.split(",")


def test_comparisons_show_it(with_metric):
    for name in ("terminal", "markdown", "html"):
        assert "ytes copied" in with_metric.run("diff", EAGER, CAPTURED, "-f", name), name
    comparison = json.loads(with_metric.run("diff", EAGER, CAPTURED, "-f", "json"))
    (row,) = [r for r in comparison["phases"][0]["rows"] if r["metric"] == "copied_bytes"]
    assert (row["title"], row["unit"], row["direction"]) == ("bytes copied", "bytes", -1)
    assert row["cells"][0]["value"] == BYTES


def test_the_schema_describes_it(with_metric):
    schema = json.loads(with_metric.run("schema", "analysis"))
    described = schema["$defs"]["Step"]["properties"]["copied_bytes"]["description"]
    assert described == "Bytes moved by the copies that the step owns."


def test_limits_hold_on_it(with_metric):
    said = with_metric.fails("analyze", EAGER, "--fail-on", "copied_bytes>3B", code=3)
    assert "copied_bytes>3B" in said
    assert "4 B" in said
    with_metric.run("analyze", EAGER, "--fail-on", "copied_bytes>1KiB")
    budget = with_metric.write("budget.toml", '[models."*"]\ncopied_bytes = "3B"\n')
    said = with_metric.start("check", budget, EAGER)
    assert said.returncode == 3
    assert "copied_bytes <= 3B" in said.stdout


def test_runs_keep_it_and_trends_follow_it(with_metric):
    made = with_metric.python("-c", STORE, EAGER)
    assert made.returncode == 0, made.stderr
    assert "4 B" in with_metric.run("runs", "trend", "copied_bytes")
    columns = with_metric.python(
        "-c",
        "import sqlite3; print([r[0] for r in sqlite3.connect('runs/runs.db').execute("
        "'SELECT DISTINCT copied_bytes FROM steps')])",
    )
    assert columns.stdout.strip() == f"[{BYTES}]"


def test_a_database_made_without_it_gains_its_column(with_metric):
    old = ROOT / "tests" / "store" / "old_runs"
    shutil.copytree(old, with_metric.work / "runs")
    assert "eager" in with_metric.run("runs", "list")
    columns = with_metric.python(
        "-c",
        "import sqlite3; print([r[1] for r in sqlite3.connect('runs/runs.db').execute("
        "'PRAGMA table_info(steps)')])",
    )
    assert "copied_bytes" in columns.stdout


def test_the_documentation_lists_it(with_metric):
    script = f"import sys; sys.path.insert(0, {str(ROOT / 'docs')!r}); import generate; "
    script += "generate.out = print; generate.metric_table()"
    listed = with_metric.python("-c", script)
    assert "| `copied_bytes` | bytes copied | bytes | less |" in listed.stdout, listed.stderr
