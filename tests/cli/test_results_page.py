"""The runs of docs/results-h200.md, replayed from their answers and traces: they print its rows."""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path

import pytest
from replayed import Machine

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/results-h200.md").read_text()
GEMMA_4 = {
    side: f"profile-gemma-4-e4b-{side}"
    for side in ("eager.node", "cudagraph.node", "cudagraph.graph")
}
GEMMA_3N = {
    side: f"profile-gemma-3n-e4b-both-fixes-{side}"
    for side in ("eager.node", "cudagraph.node", "cudagraph.graph")
}
PATCH = ("--patch", ROOT / "docs/examples/gemma3n_both.py")


@pytest.mark.parametrize(
    ("answers", "traces", "row", "arguments"),
    [
        ("gemma4", GEMMA_4, "gemma-4-E4B", ("-m", "gemma-4-E4B-it", "--rounds", "3")),
        ("gemma3n_fixed", GEMMA_3N, "gemma-3n-E4B, both fixes", ("-m", "gemma-3n-E4B-it", *PATCH)),
    ],
)
def test_a_row(cli, monkeypatch, tmp_path, answers, traces, row, arguments):
    machine = Machine(answers, traces)
    machine.replace_processes(monkeypatch)
    code, out, err = cli("profile", *arguments, "--runs", tmp_path, "--format", "json")
    assert code == 0, err
    cells = {r["metric"]: r["cells"] for r in json.loads(out)["phases"][0]["rows"]}
    eager, captured = (statistics.median(machine.medians_ms(v)) for v in ("eager", "cudagraph"))
    said = next(line for line in PAGE.splitlines() if line.startswith(f"| {row} | eager → CUDA"))
    assert f"{eager:.1f} → {captured:.1f} ms ({eager / captured:.2f}×)" in said
    assert [cell["value"] for cell in cells["untraced_ns"]] == [
        pytest.approx(ms * 1e6, abs=1) for ms in (eager, captured)
    ]
    for metric in ("idle", "idle_corrected"):
        before, after = (100 * cell["value"] for cell in cells[metric])
        assert f"| {before:.1f}% → {after:.1f}% |" in said
    before, after = (cell["value"] for cell in cells["launches"])
    assert f"| {before} → {after} |" in said


def test_three_processes_of_the_headline_run():
    steps = Machine("gemma4", {}).medians_ms("eager")
    assert ", ".join(f"{ms:.1f}" for ms in steps[:2]) + f" and {steps[2]:.1f} ms" in re.sub(
        r"\s+", " ", PAGE
    )
