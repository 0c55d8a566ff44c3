"""The first line on a captured step: what its replays compute."""

from dataclasses import replace

import handmade
import pytest

from launchlens.limits import check_findings, parse_condition
from launchlens.records.blocking import BlockerReport, CaptureAttempt, ReplayCheck
from launchlens.render import write
from launchlens.report.blockers import blocker_sentence, blockers_document

RIGHT = ReplayCheck("right", 16, ("tokens", "masks"), 0, 0.0, 0.0, 0.3, None, None, None, None)
UNKNOWN = replace(RIGHT, verdict="unknown", reason="the step draws random numbers")
WRONG = replace(RIGHT, verdict="wrong-replay", differing=8, max_abs_diff=2.5, module="model.mlp")
FINDING = replace(
    handmade.finding(),
    rule="wrong-replay",
    confidence="confirmed",
    silent=True,
    copies=False,
    count_per_step=1.0,
    title="replays compute something else than the eager step, from model.mlp on",
)
FORMATS = ("terminal", "markdown", "html", "json")


def report(replay, *findings, patched=()):
    attempt = CaptureAttempt(True, (), patched, None, replay=replay)
    return BlockerReport(
        "launchlens.blockers/1", "m", ("prefill",), 3, None, tuple(findings), attempt=attempt
    )


def test_right_replays_are_told_below_the_first_line():
    told = report(RIGHT)
    assert blocker_sentence(told).endswith("; the step captures as it stands.")
    text = write(blockers_document(told), "terminal")
    assert "replays compute what the eager step does on 16 inputs (tokens, masks)" in text


def test_an_old_report_says_nothing_of_replays():
    assert blocker_sentence(report(None)).endswith("; the step captures as it stands.")


@pytest.mark.parametrize("patched", [(), ("a.py:3",)])
def test_wrong_replays_stand_in_the_first_line_instead_of_an_all_clear(patched):
    told = report(WRONG, FINDING, patched=patched)
    first = blocker_sentence(told)
    assert first.startswith("m: 1 finding of replays that go wrong; ")
    assert first.endswith(
        ", but replays compute something else than the eager step, from model.mlp on."
    )
    assert "as it stands" not in first
    for form in ("terminal", "markdown"):
        text = write(blockers_document(told), form)
        assert "from model.mlp on" in " ".join(text.split())
        assert "as it stands" not in text
        assert "makes replays go wrong (confirmed)" in " ".join(text.split())


def test_what_cannot_be_told_is_said_with_its_reason():
    assert blocker_sentence(report(UNKNOWN)).endswith(
        ", but whether replays are right cannot be told: the step draws random numbers."
    )


def held(told):
    conditions = [parse_condition("blockers")]
    (result,) = check_findings(conditions, "m", told.findings, unproven=told.unproven)
    return result.status


def test_a_gate_fails_for_wrong_replays_and_does_not_pass_on_unknown_ones():
    assert held(report(RIGHT)) == "held"
    assert held(report(WRONG, FINDING)) == "failed"
    assert held(report(UNKNOWN)) == "unknown"
