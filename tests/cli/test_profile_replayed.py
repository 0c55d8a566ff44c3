"""``profile --model qwen3-0.6b`` with all seven variants as it ran on an H200, replayed."""

from __future__ import annotations

import json
import re

import pytest
from replayed import Machine

# Launches as SQL counts them in the traces' cards; untraced medians of docs/results-h200.md.
FIGURES = {
    "eager": (1569, "18.4 ms"),
    "cudagraph": (1, "4.66 ms"),
    "breakable": (197, "4.92 ms"),
    "piecewise": (197, "5.15 ms"),
    "compile": (468, "7.20 ms"),
    "compile-cudagraph": (2, "2.14 ms"),
    "compile-cudagraphs-backend": (1, "6.46 ms"),
}
GRAPHLESS = ("eager", "compile")
TRACES = {
    f"{variant}.{kind}": f"profile-qwen3-0.6b-{variant}.{kind}"
    for variant in FIGURES
    for kind in ("node", "graph")
    if kind == "node" or variant not in GRAPHLESS
}


# Made up: no outputs of that run were kept. Each variant has its own, so that what is reported of
# one cannot be another's.
LOGITS = [[0.0, 1.0, 2.0], [3.0, 5.0, 4.0]]
OUTPUTS = {
    "eager": LOGITS,
    "cudagraph": LOGITS,  # bit for bit
    "breakable": [[0.0, 1.0, 2.0], [3.0, 5.0, 4.5]],  # 0.5 off in one place
    "piecewise": [[0.0, 1.0, 2.0], [3.0, 5.0, 7.0]],  # 3 off, and the second row's token changes
    "compile": [[0.0, 1.0, float("nan")], [3.0, 5.0, 4.0]],
    # Nothing of the last two: their outputs were not saved.
}
DIFFERENCES = {  # identical, largest difference, finite, rows with the same token
    "cudagraph": (True, 0.0, True, 1.0),
    "breakable": (False, 0.5, True, 1.0),
    "piecewise": (False, 3.0, True, 0.5),
    "compile": (False, None, False, 1.0),
}


@pytest.fixture
def machine(monkeypatch):
    made = Machine("qwen3_all", TRACES, made_up_outputs=OUTPUTS)
    made.replace_processes(monkeypatch)
    return made


def ask(cli, tmp_path, *more):
    variants = [word for name in FIGURES for word in ("--variant", name)]
    return cli("profile", "--model", "qwen3-0.6b", *variants, "--runs", tmp_path, *more)


def test_all_seven_variants(cli, machine, monkeypatch, tmp_path):
    code, out, err = ask(cli, tmp_path)
    assert code == 0, err
    assert "[19/19] compile-cudagraphs-backend: nsys, whole graphs" in err
    assert machine.asked == [
        name
        for variant in FIGURES
        for name in (f"{variant}.time", f"{variant}.node", f"{variant}.graph")
        if name.endswith(".time") or name in TRACES
    ]
    sentences = " ".join(out.split())
    for variant, (launches, untraced) in FIGURES.items():
        assert re.search(rf"^{variant} +{launches} ", out, re.M), variant
        assert re.search(rf"^{variant} .* {untraced} ", out, re.M), variant
        if variant != "eager":
            start = f"qwen3-0.6b-eager → {variant}: launches per prefill step 1569 → {launches},"
            assert start in sentences
    report = next(tmp_path.glob("2*/report.md")).read_text()
    assert "| launches per step | 1569 | **1** (−99.94%) |" in report


def test_what_it_gives_as_json_is_what_the_stored_run_gives(cli, machine, tmp_path):
    shown = json.loads(ask(cli, tmp_path, "--format", "json")[1])
    run = next(tmp_path.glob("2*/run.json")).parent.name
    stored = json.loads(
        cli("diff", *(f"{run}:{v}" for v in FIGURES), "--runs", tmp_path, "--format", "json")[1]
    )
    assert stored["phases"] == shown["phases"]
    assert [side["facts"] for side in stored["candidates"]] == [
        side["facts"] for side in shown["candidates"]
    ]


def test_each_variants_own_outputs_are_compared_with_the_baselines(cli, machine, tmp_path):
    shown = json.loads(ask(cli, tmp_path, "--format", "json")[1])
    told = {side["facts"]["variant"]: side["facts"]["equivalence"] for side in shown["candidates"]}
    for variant, (identical, distance, finite, top1) in DIFFERENCES.items():
        (found,) = told[variant]
        assert (found["identical"], found["max_abs_diff"]) == (identical, distance), variant
        assert (found["finite"], found["top1_agreement"]) == (finite, top1), variant
        assert (found["dtype"], found["beside"]) == ("bfloat16", "eager")
    assert [variant for variant, rows in told.items() if not rows] == [
        "compile-cudagraph",
        "compile-cudagraphs-backend",
    ]
