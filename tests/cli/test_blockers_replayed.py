"""``blockers --model gemma-3n-E4B-it --patch`` as it ran on an H200, replayed."""

from __future__ import annotations

import html
import json
import shutil

import numpy as np
import profiled
import pytest
from replayed import Machine

TRACES = {
    "eager.node": "gemma-3n-e4b-eager",
    "eager-patched.node": "profile-gemma-3n-e4b-both-fixes-eager.node",
}
PATCH = profiled.ROOT / "docs" / "examples" / "gemma3n_both.py"


@pytest.fixture
def machine(monkeypatch):
    made = Machine("gemma3n_both", TRACES)
    made.replace_processes(monkeypatch)
    return made


def ask(cli, tmp_path, *more):
    return cli(
        "blockers", "--model", "gemma-3n-E4B-it", "--patch", PATCH, "--runs", tmp_path, *more
    )


def test_what_the_public_report_of_the_fix_did_not_have(cli, machine, tmp_path):
    code, out, err = ask(cli, tmp_path)
    assert code == 0, err
    said = " ".join(out.split())
    assert said.startswith(
        "gemma-3n-E4B-it: 18 synchronizing copies in each prefill step; capture fails at "
        "modeling_gemma3n.py:1727, and succeeds with 3 lines patched over."
    )
    for words in (
        "10 × host-to-device copy, 4 bytes, pageable, modeling_gemma3n.py:973: blocks",
        "6 × host-to-device copy, 2 bytes, pageable, modeling_gemma3n.py:1727/1764: blocks",
        "2 × device-to-host copy, 1 byte, pinned, masking_utils.py:755: does not block",
        "With gemma3n_both.py: gemma-3n-E4B-it-patched: 2 synchronizing copies in each prefill",
        "Gone with the patch: 16 of each step's findings: 10 × host-to-device copy, 4 bytes, "
        "pageable (modeling_gemma3n.py:973), 6 × host-to-device copy, 2 bytes, pageable "
        "(modeling_gemma3n.py:1727/1764)",
        "step, untraced, eager: 76.1 ms step",
        "step, untraced, eager, patched: 67.1 ms (−11.9%, inconclusive)",
        "step, untraced, cudagraph, patched: 16.1 ms (4.7× faster)",
        "--rounds 5",
    ):
        assert words in said, words


def test_rounds_take_turns_before_and_after_the_patch(cli, machine, tmp_path):
    code, out, err = ask(cli, tmp_path, "--rounds", "3", "--format", "json")
    assert code == 0, err
    timed = [stem for stem in machine.asked if ".time" in stem]
    sides = ("eager", "eager-patched", "cudagraph-patched")
    assert timed == [f"{s}.time" for s in sides] + [
        f"{s}.time-{turn}" for turn in (2, 3) for s in sides
    ]
    assert "[13/13] cudagraph-patched: untraced, round 3" in err
    effect = json.loads(out)["effect"]
    assert effect["untraced_verdicts"] == {
        "eager, patched": "inconclusive",
        "cudagraph, patched": "better",
    }
    assert [len(v) for v in effect["untraced_processes_ns"].values()] == [3, 3, 3]
    for name in ("eager", "eager, patched", "cudagraph, patched"):
        middle = sorted(machine.medians_ms(name.replace(", ", "-")))[1]
        assert effect["untraced_ns"][name] == pytest.approx(middle * 1e6, abs=1)


def test_outputs_are_compared_with_the_unpatched_steps_in_each_dtype(cli, machine, tmp_path):
    effect = json.loads(ask(cli, tmp_path, "--format", "json")[1])["effect"]
    eager = machine.outputs("eager")
    for name in ("eager, patched", "cudagraph, patched"):
        own = machine.outputs(name.replace(", ", "-"))
        found = {e["dtype"]: e for e in effect["equivalence"][name]}
        assert set(found) == {"float32", "float16", "bfloat16"}
        for dtype, told in found.items():
            distance = np.abs(own[f"{dtype}.prefill"] - eager[f"{dtype}.prefill"]).max()
            assert told["max_abs_diff"] == pytest.approx(distance)
            assert told["identical"] == (distance == 0)
    # The captured step takes another attention kernel in float32 (docs/gemma-3n.md).
    assert not found["float32"]["identical"]


def test_rounds_need_a_patch_and_a_gpu(fails, machine, tmp_path):
    model = ("blockers", "--model", "gemma-3n-E4B-it", "--rounds", "2", "--runs", tmp_path)
    assert "--patch" in fails(*model, code=2)
    assert "on a GPU only" in fails(*model, "--patch", PATCH, "--device", "cpu", code=2)


WRONG = {
    "verdict": "frozen-value", "inputs": 8, "varied": ["tokens"], "differing": 8,
    "max_abs_diff": 2.5, "eager_spread": 1.5, "tolerance": 0.3, "module": "model.layers.3.mlp",
    "module_class": "Counted", "source": "counted.py:7", "path": "/m/counted.py", "line": 7,
    "reason": "eager differs from itself by 1.5 on the same input",
}  # fmt: skip


@pytest.fixture
def wrong_replays(machine, tmp_path):
    """The same machine, on which replays of the patched step are wrong."""
    answers = tmp_path / "answers"
    shutil.copytree(machine.answers, answers)
    machine.answers = answers
    path = answers / "attempt-patched_0.json"
    result = json.loads(path.read_text())
    result["attempt"]["replay"] = WRONG
    path.write_text(json.dumps(result))
    return machine


@pytest.mark.parametrize("form", ["terminal", "markdown", "html", "json"])
def test_wrong_replays_are_told_in_every_format_and_fail_a_gate(cli, wrong_replays, tmp_path, form):
    code, out, err = ask(cli, tmp_path, "--format", form, "--fail-on", "blockers>0")
    assert code == 3
    assert "frozen-value × 1" in err
    said = " ".join(html.unescape(out).split())
    assert "replays keep a value that Python changes from step to step" in said
    assert "model.layers.3.mlp" in said
    if form != "json":
        with_patch = said[said.index("With gemma3n_both.py:") :]
        assert "as it stands" not in with_patch
        return
    patched = json.loads(out)["patched"]
    assert patched["attempt"]["replay"]["max_abs_diff"] == 2.5
    (finding,) = [f for f in patched["findings"] if f["rule"] == "frozen-value"]
    assert (finding["confidence"], finding["source"]) == ("confirmed", "counted.py:7")


def test_phases_are_counted_apart():
    from dataclasses import replace

    import handmade

    from launchlens.limits.figures import count_blockers
    from launchlens.records.blocking import BlockerReport
    from launchlens.report.blockers import blocker_sentence

    one = replace(handmade.finding(), rule="pageable-htod", confidence="likely", count_per_step=8)
    found = tuple(replace(one, phase=phase) for phase in ("prefill", "decode"))
    report = BlockerReport(
        "launchlens.blockers/1", "m", ("prefill", "decode"), 3, None, findings=found
    )
    assert blocker_sentence(report) == (
        "m: 8 synchronizing copies in each prefill step, 8 synchronizing copies in each decode "
        "step."
    )
    assert count_blockers(found, "likely")[0] == 8
