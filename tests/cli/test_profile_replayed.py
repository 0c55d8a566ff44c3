"""``profile --model qwen3-0.6b`` with all seven variants as it ran on an H200, replayed."""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pytest
from replayed import Machine

from launchlens.report.words import format_ns

# Launches as SQL counts them in the traces' cards.
LAUNCHES = {
    "eager": 1569,
    "cudagraph": 1,
    "breakable": 197,
    "piecewise": 197,
    "compile": 468,
    "compile-cudagraph": 2,
    "compile-cudagraphs-backend": 1,
}
GRAPHLESS = ("eager", "compile")
TRACES = {
    f"{variant}.{kind}": f"profile-qwen3-0.6b-{variant}.{kind}"
    for variant in LAUNCHES
    for kind in ("node", "graph")
    if kind == "node" or variant not in GRAPHLESS
}


@pytest.fixture
def machine(monkeypatch):
    made = Machine("qwen3_all", TRACES)
    made.replace_processes(monkeypatch)
    return made


def ask(cli, tmp_path, *more):
    variants = [word for name in LAUNCHES for word in ("--variant", name)]
    return cli("profile", "--model", "qwen3-0.6b", *variants, "--runs", tmp_path, *more)


def test_all_seven_variants(cli, machine, monkeypatch, tmp_path):
    code, out, err = ask(cli, tmp_path)
    assert code == 0, err
    assert "[19/19] compile-cudagraphs-backend: nsys, whole graphs" in err
    assert machine.asked == [
        name
        for variant in LAUNCHES
        for name in (f"{variant}.time", f"{variant}.node", f"{variant}.graph")
        if name.endswith(".time") or name in TRACES
    ]
    for variant, launches in LAUNCHES.items():
        untraced = format_ns(machine.medians_ms(variant)[0] * 1e6)
        assert re.search(rf"^{variant} +{untraced}.* {launches} ", out, re.M), variant
    steps = {v: machine.medians_ms(v)[0] for v in LAUNCHES}
    fastest = min(steps, key=steps.get)
    assert out.startswith(f"Fastest: {fastest}, {format_ns(steps[fastest] * 1e6)}, ")
    report = next(tmp_path.glob("2*/report.md")).read_text()
    (row,) = [line for line in report.splitlines() if line.startswith("| launches per step |")][:1]
    ordered = sorted(steps, key=lambda v: (v != "eager", steps[v]))
    for cell, variant in zip(row.split("|")[2:-1], ordered, strict=True):
        assert re.match(rf" (🟢 )?{LAUNCHES[variant]}\b", cell), variant


def test_what_it_gives_as_json_is_what_the_stored_run_gives(cli, machine, tmp_path):
    shown = json.loads(ask(cli, tmp_path, "--format", "json")[1])
    run = next(tmp_path.glob("2*/run.json")).parent.name
    stored = json.loads(
        cli("diff", *(f"{run}:{v}" for v in LAUNCHES), "--runs", tmp_path, "--format", "json")[1]
    )
    assert stored["phases"] == shown["phases"]
    assert [side["facts"] for side in stored["candidates"]] == [
        side["facts"] for side in shown["candidates"]
    ]


def test_each_variants_own_outputs_are_compared_with_the_baselines(cli, machine, tmp_path):
    shown = json.loads(ask(cli, tmp_path, "--format", "json")[1])
    eager = machine.outputs("eager")["bfloat16.prefill"]
    distances = set()
    for side in shown["candidates"]:
        own = machine.outputs(side["facts"]["variant"])["bfloat16.prefill"]
        (found,) = side["facts"]["equivalence"]
        distances.add(np.abs(own - eager).max())
        assert found["max_abs_diff"] == pytest.approx(np.abs(own - eager).max())
        assert found["identical"] == bool((own == eager).all())
        assert found["top1_agreement"] == (own.argmax(-1) == eager.argmax(-1)).mean()
        assert (found["dtype"], found["beside"]) == ("bfloat16", "eager")
    assert len(distances) > 1, "all variants differ alike: a mix-up would not be seen"


def test_two_rounds_are_pooled_by_their_medians(cli, machine, tmp_path):
    code, out, err = ask(cli, tmp_path, "--rounds", "2", "--format", "json")
    assert code == 0, err
    assert machine.asked[-7:] == [f"{variant}.time-2" for variant in LAUNCHES]
    comparison = json.loads(out)
    for side in (comparison["baseline"], *comparison["candidates"]):
        (wall,) = side["facts"]["untraced"]
        medians = machine.medians_ms(side["facts"]["variant"])
        assert wall["processes_ns"] == pytest.approx([ms * 1e6 for ms in medians], abs=1)
        assert wall["wall_ns"]["median"] == pytest.approx(sum(medians) / 2 * 1e6, abs=1)
    # Two processes of 29.3 and 23.3 ms tell nothing of how low the time may be: idle neither.
    rows = {row["metric"]: row["cells"] for row in comparison["phases"][0]["rows"]}
    assert rows["untraced_ns"][0]["ci_low"] == rows["idle_corrected"][0]["ci_low"] == 0


@pytest.mark.parametrize("metric", ["idle_corrected", "inflation"])
def test_trends_follow_what_rests_on_trace_and_untraced_times(cli, machine, tmp_path, metric):
    shown = json.loads(ask(cli, tmp_path, "--rounds", "2", "--format", "json")[1])
    (row,) = [row for row in shown["phases"][0]["rows"] if row["metric"] == metric]
    told = cli("runs", "trend", metric, "--runs", tmp_path, "--format", "json")[1]
    series = {one["variant"]: one for one in json.loads(told)["series"]}
    assert [series[v]["points"][0]["value"] for v in LAUNCHES] == [c["value"] for c in row["cells"]]
    assert {one["source"] for one in series.values()} == {"traced and untraced"}


def test_wrong_replays_of_a_variant_stand_in_its_sentence_and_fail_a_gate(cli, machine, tmp_path):
    answers = tmp_path / "answers"
    shutil.copytree(machine.answers, answers)
    machine.answers = answers
    path = answers / "cudagraph.time.json"
    result = json.loads(path.read_text())
    known = {"inputs": 8, "varied": ["tokens"], "differing": None, "max_abs_diff": None}
    known |= {"eager_spread": None, "tolerance": None}
    result["replays"] = {
        "prefill": known | {"verdict": "wrong-replay", "module": "model.layers.0.mlp"},
        "decode": known | {"verdict": "unknown", "reason": "the step draws random numbers"},
    }
    path.write_text(json.dumps(result))
    code, out, err = cli(
        "profile", "--model", "qwen3-0.6b", "--runs", tmp_path, "--fail-on", "blockers>0"
    )  # fmt: skip
    assert code == 3
    assert "wrong-replay × 1" in err
    said = " ".join(out.split())
    assert (
        "cudagraph: replays compute something else than the eager step, from model.layers.0.mlp on;"
    ) in said
    assert "replays of the decode step are right cannot be told: the step draws random" in said
