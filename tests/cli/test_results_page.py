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
FOUR = ("eager", "cudagraph", "breakable", "piecewise")
REQUESTS = {f"{v}.node": f"profile-gemma-4-e4b-osl5-{v}.node" for v in FOUR}
WITH_REQUESTS = (
    *("-m", "gemma-4-E4B-it", "--osl", "5", "--concurrency", "1,4", "--graph-trace", "node"),
    *("--trace-steps", "4", *(word for v in FOUR for word in ("--variant", v))),
)
PATCH = ("--patch", ROOT / "docs/examples/gemma3n_both.py")


@pytest.mark.parametrize(
    ("answers", "traces", "row", "arguments"),
    [
        ("gemma4", GEMMA_4, "gemma-4-E4B | eager", ("-m", "gemma-4-E4B-it", "--rounds", "3")),
        (
            "gemma3n_fixed",
            GEMMA_3N,
            "gemma-3n-E4B, both fixes | eager",
            ("-m", "gemma-3n-E4B-it", *PATCH),
        ),
        ("gemma4_requests", REQUESTS, "gemma-4-E4B | four", WITH_REQUESTS),
    ],
)
def test_a_row(cli, monkeypatch, tmp_path, answers, traces, row, arguments):
    machine = Machine(answers, traces)
    machine.replace_processes(monkeypatch)
    code, out, err = cli("profile", *arguments, "--runs", tmp_path, "--format", "json")
    assert code == 0, err
    comparison = json.loads(out)
    cells = {r["metric"]: r["cells"] for r in comparison["phases"][0]["rows"]}
    eager, captured = (statistics.median(machine.medians_ms(v)) for v in ("eager", "cudagraph"))
    said = next(line for line in PAGE.splitlines() if line.startswith(f"| {row} "))
    assert f"{eager:.1f} → {captured:.1f} ms ({eager / captured:.2f}×)" in said
    assert [cell["value"] for cell in cells["untraced_ns"][:2]] == [
        pytest.approx(ms * 1e6, abs=1) for ms in (eager, captured)
    ]
    for metric in ("idle", "idle_corrected"):
        before, after = (100 * cell["value"] for cell in cells[metric][:2])
        assert f"| {before:.1f}% → {after:.1f}% |" in said
    before, after = (cell["value"] for cell in cells["launches"][:2])
    assert f"| {before} → {after} |" in said


def test_three_processes_of_the_headline_run():
    steps = Machine("gemma4", {}).medians_ms("eager")
    assert ", ".join(f"{ms:.1f}" for ms in steps[:2]) + f" and {steps[2]:.1f} ms" in re.sub(
        r"\s+", " ", PAGE
    )


def test_requests_of_four_variants(cli, monkeypatch, tmp_path):
    machine = Machine("gemma4_requests", REQUESTS)
    machine.replace_processes(monkeypatch)
    out = cli("profile", *WITH_REQUESTS, "--runs", tmp_path, "--format", "json")[1]
    comparison = json.loads(out)
    sides = [comparison["baseline"], *comparison["candidates"]]
    told = [{r["concurrency"]: r for r in side["facts"]["requests"]} for side in sides]
    decode = next(phase for phase in comparison["phases"] if phase["phase"] == "decode")
    cells = {row["metric"]: [c["value"] for c in row["cells"]] for row in decode["rows"]}
    for title, row in (
        ("launches, decode", cells["launches"]),
        ("decode step, untraced", [f"{ns / 1e6:.1f} ms" for ns in cells["untraced_ns"]]),
        ("TTFT, concurrency 1", [f"{r[1]['ttft_ns'] / 1e6:.1f} ms" for r in told]),
        ("ITL, concurrency 1", [f"{r[1]['itl_ns'] / 1e6:.1f} ms" for r in told]),
        ("tokens/s, concurrency 1", [f"{r[1]['tokens_per_s']:.1f}" for r in told]),
        ("tokens/s, concurrency 4", [f"{r[4]['tokens_per_s']:.1f}" for r in told]),
    ):
        assert f"| {title} | {' | '.join(map(str, row))} |" in PAGE


def test_qwen3_times_are_those_recorded():
    machine = Machine("qwen3_all", {})
    eager = statistics.median(machine.medians_ms("eager"))
    for variant in ("compile", "piecewise", "breakable", "cudagraph", "compile-cudagraph"):
        first, second = machine.medians_ms(variant)
        ratio = eager / statistics.median((first, second))
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| {variant} | "))
        assert f"| {first:.3g}, {second:.3g} ms | {ratio:.3g}× |" in row


def test_the_example_is_a_report_of_the_headline_run():
    """docs/examples/report.md, which the README links; ``make examples`` draws it."""
    example = (ROOT / "docs/examples/report.md").read_text()
    machine = Machine("gemma4", {})
    eager, captured = (statistics.median(machine.medians_ms(v)) for v in ("eager", "cudagraph"))
    assert f"| step, untraced | {eager:.1f} ms | {captured:.1f} ms |" in example
    assert "| launches per step | 3831 | 1 |" in example
