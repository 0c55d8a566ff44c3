"""Commands on runs of the version before (tests/store/old_runs) print what that version printed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

OLD = Path(__file__).parents[1] / "store/old_runs"

LIST = """\
run                             status    variants            commit    model            GPU
20261201-120000-qwen3-0-6b-axd  complete  eager, cudagraph,   abc123d+  Qwen/qwen3-0.6b  NVIDIA H200
                                          breakable (failed)
20261130-120000-qwen3-0-6b-nmz  complete  eager, cudagraph,   abc123d   Qwen/qwen3-0.6b  NVIDIA H200
                                          breakable (failed)
"""
SHOWN = (
    "began         2026-12-01T12:00:00+00:00",
    "commit        abc123def4567890abc123def4567890abc123de, with files changed",
    "variant       status        untraced step  peak memory   traces",
    "eager         ok            46.0 ms        1.00 GiB      none",
    "cudagraph     ok            4.70 ms        1.00 GiB      graph",
    "breakable     failed        not measured   1.00 GiB      none",
    "breakable could not be captured at modeling.py:17: Cannot copy between CPU and CUDA",
)
SIDES = ("axd:eager", "axd:cudagraph")
TREND = """\
window_ns: Qwen/qwen3-0.6b, cudagraph, prefill, ISL 25, batch 1, bfloat16, NVIDIA H200, traced
  (graph)
  4.79 ms → 4.79 ms (0.0%) over 2 runs
  ▄▄
  2026-11-30  abc123d        4.79 ms
  2026-12-01  abc123d+       4.79 ms  0.0%
"""


@pytest.fixture
def old(cli, tmp_path, monkeypatch):
    """Types a command on a copy of the old runs; returns what it prints."""
    root = shutil.copytree(OLD, tmp_path / "runs")
    monkeypatch.setenv("COLUMNS", "100")

    def type_in(*arguments):
        code, out, err = cli(*arguments, "--runs", root)
        assert (code, err) == (0, "")
        return out

    return type_in


def test_list(old):
    assert old("runs", "list") == LIST


def test_show(old):
    shown = old("runs", "show", "axd")
    for line in SHOWN:
        assert line in shown


def test_trend(old):
    assert old("runs", "trend", "window_ns") == TREND
    assert "≥ 2.8% → ≥ 2.8% over 2 runs" in old("runs", "trend", "idle")


def test_diff(old):
    said = old("diff", *SIDES)
    assert "46.0 → 4.70 ms, 9.8× faster" in " ".join(said.split())
    assert "≥ 2.8%" in said
    assert "commit abc123def456 (dirty)" in " ".join(old("diff", *SIDES, "-v").split())
