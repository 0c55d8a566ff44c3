"""``blockers --model gemma-3n-E4B-it --patch`` as it ran on an H200, replayed."""

from __future__ import annotations

import json

import profiled
import pytest
from replayed import Machine

TRACES = {
    "eager.node": "gemma-3n-e4b-eager",
    "eager-patched.node": "profile-gemma-3n-e4b-both-fixes-eager.node",
}
PATCH = profiled.ROOT / "docs" / "examples" / "gemma3n_both.py"
# Made up: step times of rounds 2 to 5, in ms. Beside the recorded first round (70.3, 66.2 and
# 16.1 ms) eager's overlap with the patched step's, and the captured ones are far from both.
MADE_UP_MS = {
    "eager": (80.0, 72.5, 76.0, 66.5),
    "eager-patched": (71.5, 73.5, 68.0, 69.0),
    "cudagraph-patched": (16.0, 16.5, 16.25, 16.75),
}
# Made up too: the patched eager step computes the same, the captured one is 0.25 off.
OUTPUTS = {
    "eager": [[1.0, 2.0, 4.0]],
    "eager-patched": [[1.0, 2.0, 4.0]],
    "cudagraph-patched": [[1.0, 2.25, 4.0]],
}


@pytest.fixture
def machine(monkeypatch):
    made = Machine("gemma3n_both", TRACES, made_up_ms=MADE_UP_MS, made_up_outputs=OUTPUTS)
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
        "step, untraced, eager: 70.3 ms step",
        "step, untraced, eager, patched: 66.2 ms (1.06×, inconclusive)",
        "step, untraced, cudagraph, patched: 16.1 ms (4.36×)",
        "--rounds 5",
    ):
        assert words in said, words


def test_rounds_take_turns_before_and_after_the_patch(cli, machine, tmp_path):
    code, out, err = ask(cli, tmp_path, "--rounds", "5", "--format", "json")
    assert code == 0, err
    timed = [stem for stem in machine.asked if ".time" in stem]
    sides = ("eager", "eager-patched", "cudagraph-patched")
    assert timed == [f"{s}.time" for s in sides] + [
        f"{s}.time-{turn}" for turn in (2, 3, 4, 5) for s in sides
    ]
    assert "[19/19] cudagraph-patched: untraced, round 5" in err
    effect = json.loads(out)["effect"]
    assert effect["untraced_verdicts"] == {
        "eager, patched": "inconclusive",
        "cudagraph, patched": "better",
    }
    assert [len(v) for v in effect["untraced_processes_ns"].values()] == [5, 5, 5]
    assert effect["untraced_ns"]["eager"] == 72_500_000  # the middle one of five


def test_outputs_are_compared_with_the_unpatched_steps_in_each_dtype(cli, machine, tmp_path):
    effect = json.loads(ask(cli, tmp_path, "--format", "json")[1])["effect"]
    for name, distance in (("eager, patched", 0.0), ("cudagraph, patched", 0.25)):
        found = effect["equivalence"][name]
        assert {e["dtype"] for e in found} == {"float32", "float16", "bfloat16"}
        assert {e["max_abs_diff"] for e in found} == {distance}
        assert {e["identical"] for e in found} == {distance == 0}


def test_rounds_need_a_patch_and_a_gpu(fails, machine, tmp_path):
    model = ("blockers", "--model", "gemma-3n-E4B-it", "--rounds", "2", "--runs", tmp_path)
    assert "--patch" in fails(*model, code=2)
    assert "on a GPU only" in fails(*model, "--patch", PATCH, "--device", "cpu", code=2)


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
