"""Source lines from dispatch events, and confirmation by a capture attempt."""

from dataclasses import replace
from pathlib import Path

import pytest
from attempts import attempted, event, met
from drawn_traces import call, draw, dtoh, htod, launch

from launchlens.blockers import find_blockers
from launchlens.metrics import summarize
from launchlens.protocol.replay import ReplayCheck
from launchlens.trace import read_trace

TRACES = Path(__file__).parents[2] / "traces"
COPY, SYNC = "cudaMemcpyAsync_v3020", "cudaStreamSynchronize_v3020"

MASK = [
    event(
        "dtoh", 1, 700, "find_packed", "/transformers/masking_utils.py", "aten._local_scalar_dense"
    )
    for _ in range(2)
]
GEMMA_EVENTS = [
    *MASK,
    *[event("htod", 2, 1727) for _ in range(3)],
    *[event("htod", 4, 973, "_gaussian_topk", op="torch.tensor") for _ in range(10)],
    *[event("htod", 2, 1764) for _ in range(3)],
]


@pytest.fixture(scope="module")
def gemma():
    trace = read_trace(TRACES / "gemma-3n-e4b-eager.nsys2025.3.sqlite.xz")
    return trace, summarize(trace).steps


def by_source(findings):
    return {f.source: f for f in findings}


def test_gemma_3n_gets_its_lines(gemma):
    findings = by_source(find_blockers(*gemma, dispatch_events=GEMMA_EVENTS))
    assert {source: f.count_per_step for source, f in findings.items()} == {
        "modeling_gemma3n.py:1727/1764": 6.0,
        "modeling_gemma3n.py:973": 10.0,
        "masking_utils.py:700": 2.0,
    }
    stack = findings["modeling_gemma3n.py:973"].stack
    assert stack == ("modeling_gemma3n.py:973 _gaussian_topk", "run.py:10 main")


def test_events_that_only_one_side_has_do_not_shift_the_rest(gemma):
    events = [event("htod", 77, 1), *GEMMA_EVENTS[:5], event("dtoh", 8, 2), *GEMMA_EVENTS[6:]]
    findings = by_source(find_blockers(*gemma, dispatch_events=events))
    assert findings["modeling_gemma3n.py:1727/1764"].count_per_step == 6.0
    assert findings["modeling_gemma3n.py:973"].count_per_step == 9.0  # one event is missing
    assert findings[None].count_per_step == 1.0


def test_a_waiting_operator_is_the_copy_of_its_number():
    calls = [
        launch(10),
        call(COPY, 50, 60, dtoh(8, 70, 72, "Pinned")),
        call(SYNC, 61, 80),
        launch(90),
        call("cudaDeviceSynchronize", 100, 110),
        launch(120),
    ]
    events = [
        event("sync", None, 5, op="aten.nonzero"),
        event("sync", None, 9, op="torch.cuda.synchronize"),
    ]
    findings = find_blockers(*draw(calls), dispatch_events=events)
    assert {f.rule: f.source for f in findings} == {
        "dtoh-sync": "modeling_gemma3n.py:5",
        "explicit-sync": "modeling_gemma3n.py:9",
    }


REFUSED = (
    "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU tensor is "
    "pinned."
)
ATTEMPT = attempted(
    met(REFUSED, 1727, kind="htod"),
    met(REFUSED, 973, kind="htod", order=2),
    captured=True,
    cleared=[
        {
            "source": "masking_utils.py:700",
            "kind": "dtoh",
            "bytes": 1,
            "count": 2,
            "seen_while_capturing": False,
        }
    ],
)


def test_an_attempt_confirms_in_order_and_clears_the_mask_check(gemma):
    findings = by_source(find_blockers(*gemma, dispatch_events=GEMMA_EVENTS, attempt=ATTEMPT))
    altup = findings["modeling_gemma3n.py:1727/1764"]
    assert (altup.confidence, altup.note) == (
        "confirmed",
        f"The capture failed here: {REFUSED}",
    )
    sparsity = findings["modeling_gemma3n.py:973"]
    assert sparsity.confidence == "confirmed"
    assert "once the blocker before it is out of the way" in sparsity.note
    mask = findings["masking_utils.py:700"]
    assert mask.confidence == "cleared"
    assert "Skipped while capturing" in mask.note


def test_a_second_copy_of_a_line_that_was_patched_over_is_not_cleared():
    """``y.cpu().to(device)``: the capture failed at the first copy, and both were patched over."""
    calls = [
        launch(10),
        call(COPY, 50, 60, dtoh(4, 70, 72)),
        call(SYNC, 61, 80),
        call(COPY, 100, 110, htod(4, 120, 122)),
        call(SYNC, 111, 130),
        launch(140),
    ]
    events = [event(kind, 4, 7, file="/m/two.py") for kind in ("dtoh", "htod")]
    failed = met(REFUSED, 7, "/m/two.py", kind="dtoh", bytes=4, count=2)
    attempt = replace(attempted(failed, captured=True, cleared=[]), patched_sources=("two.py:7",))
    found = find_blockers(*draw(calls), dispatch_events=events, attempt=attempt)
    told = {f.rule: f for f in found}
    assert told["dtoh-sync"].confidence == "confirmed"
    assert told["pageable-htod"].confidence == "likely"
    assert "Not reached: two.py:7 was patched over" in told["pageable-htod"].note


CHECK = ReplayCheck(
    "wrong-replay", 8, ("tokens",), 8, 2.5, 0.0, 0.3, "model.layers.1.mlp", "Hidden",
    "hidden.py:9", "/m/hidden.py", 9,
)  # fmt: skip


@pytest.mark.parametrize("verdict", ["wrong-replay", "frozen-value"])
def test_wrong_replays_are_a_finding_with_the_first_layer(verdict):
    attempt = replace(attempted(captured=True), replay=replace(CHECK, verdict=verdict))
    (finding,) = find_blockers(*draw([launch(10)]), attempt=attempt)
    assert (finding.rule, finding.confidence, finding.source) == (
        verdict,
        "confirmed",
        "hidden.py:9",
    )
    assert finding.replays_wrong
    assert finding.title.startswith("replays ")
    assert finding.title.endswith(", from model.layers.1.mlp on")
    assert "On 8 of 8 inputs (tokens)" in finding.note
    assert "2.5" in finding.note
    assert "model.layers.1.mlp (Hidden)" in finding.note


def test_replays_that_are_no_numbers_have_no_distance():
    attempt = replace(attempted(captured=True), replay=replace(CHECK, max_abs_diff=None))
    (finding,) = find_blockers(*draw([launch(10)]), attempt=attempt)
    assert "differ by more than rounding (rounding explains 0.3)." in finding.note


@pytest.mark.parametrize("verdict", ["right", "unknown"])
def test_replays_that_are_right_or_unknown_are_none(verdict):
    attempt = replace(attempted(captured=True), replay=replace(CHECK, verdict=verdict))
    assert find_blockers(*draw([launch(10)]), attempt=attempt) == ()


def test_a_silent_suspect_at_which_a_capture_failed_is_not_taken_for_a_wrong_replay():
    calls = [launch(10), launch(20, stream=1)]
    attempt = attempted(met("CUDA error: capturing stream has unjoined work", 7, "model.py"))
    for finding in find_blockers(*draw(calls), attempt=attempt):
        assert not finding.replays_wrong


def test_a_first_failure_alone_confirms_one_and_clears_none(gemma):
    attempt = attempted(met(REFUSED, 1727))
    findings = find_blockers(*gemma, dispatch_events=GEMMA_EVENTS, attempt=attempt)
    assert [f.confidence for f in findings] == ["confirmed", "likely", "suspected"]


def test_without_lines_the_bytes_and_count_of_the_attempt_tell(gemma):
    attempt = attempted(met(REFUSED, 1727, kind="htod", bytes=2, count=6))
    findings = find_blockers(*gemma, attempt=attempt)
    assert (findings[0].confidence, findings[0].bytes) == ("confirmed", 2)
    assert findings[0].source == "modeling_gemma3n.py:1727"
    assert [f.confidence for f in findings[1:]] == ["likely", "suspected"]


def test_a_failure_that_no_finding_explains_becomes_one():
    attempt = attempted(met("CUDA error: capturing stream has unjoined work", 7, "model.py"))
    (finding,) = find_blockers(*draw([launch(10)]), attempt=attempt)
    assert (finding.rule, finding.source, finding.confidence) == (
        "legacy-stream",
        "model.py:7",
        "confirmed",
    )
    assert finding.host_ns is None
    assert "wait_stream" in finding.remedy


def test_a_capture_that_succeeds_does_not_clear_what_fails_silently():
    calls = [launch(10), call(COPY, 50, 60, htod(200, 70, 72, "Pinned")), launch(90)]
    calls += [call(COPY, 100, 110, dtoh(1, 112, 113, "Pinned")), call(SYNC, 111, 120), launch(130)]
    findings = find_blockers(*draw(calls), attempt=attempted(captured=True))
    assert {f.rule: f.confidence for f in findings} == {
        "stale-input": "suspected",
        "dtoh-sync": "cleared",
    }


def test_error_900_is_tied_to_the_only_finding_it_can_mean():
    calls = [launch(10), call("cudaDeviceSynchronize", 50, 90), launch(100)]
    text = "CUDA error: operation not permitted when stream is capturing"
    attempt = attempted(met(text, 9, "model.py"))
    (finding,) = find_blockers(*draw(calls), attempt=attempt)
    assert (finding.rule, finding.confidence, finding.source) == (
        "explicit-sync",
        "confirmed",
        "model.py:9",
    )


def test_an_error_that_several_findings_allow_is_not_guessed(gemma):
    attempt = attempted(met(REFUSED, 1727))
    findings = find_blockers(*gemma, attempt=attempt)
    assert [f.confidence for f in findings] == ["confirmed", "likely", "likely", "suspected"]
    assert "does not tell which of its findings" in findings[0].note
