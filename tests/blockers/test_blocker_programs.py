"""The programs of public cases: their recorded traces give exactly the expected findings.

`record.py` recorded them on a GPU; what is expected stands in each program, by what the code
does, and `recorded/captures.json` holds what a real capture attempt said.
"""

import ast
import json
from collections import Counter
from pathlib import Path

import pytest
from attempts import attempted, recorded_attempt, recorded_events
from record import WITH_STACKS

from launchlens.blockers import find_blockers, rules
from launchlens.metrics import summarize
from launchlens.trace import find_secrets, read_stacks, read_trace

HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
NAMES = sorted(p.stem for p in (HERE / "programs").glob("*.py") if not p.stem.startswith("_"))
NO_NAMES = (
    "these stacks lost the names of their Python frames to an older scrubber: record them again "
    "with tests/blockers/record.py --stacks-only"
)
NOT_RECORDED = "not recorded yet: run tests/blockers/record.py on a machine with a GPU"
# nsys notes a stack where the host waits, or waits for an event: the outermost native frames of
# these programs' findings, in order of the marked lines.
OPERATORS = {
    "altup_epsilon": ["THPVariable_to", "THPVariable_to"],
    "boolean_index": ["THPVariable_getitem"],
    "config_scalar_tensor": ["THPVariable_tensor"],
    "cpu_embedding": ["THPVariable_cpu", "THPVariable_to"],
    "explicit_sync": ["THCPModule_cudaSynchronize", "THCPStream_synchronize"],
    "guarded_condition": ["THPVariable_is_nonzero"],
    "item_loop": ["THPVariable_item"],
    "layer_to_device": ["THPVariable_to"],
    "list_index_scalar": ["THPVariable_setitem", "THPVariable_setitem"],
    "old_event_wait": ["THCPEvent_wait"],
    "repeat_interleave": ["THPVariable_repeat_interleave", "THPVariable_repeat_interleave"],
    "shape_tensors": ["THPVariable_tensor"] * 3,
    "tensor_condition": ["THPVariable_is_nonzero"],
    "tolist_lengths": ["THPVariable_tolist"],
}
# Which findings a dispatch mode can place: copies, waits and queries are operators or torch calls.
EVENTS_KNOWN = {
    "pageable-htod",
    "dtoh-sync",
    "explicit-sync",
    "slow-pinned-htod",
    "stale-input",
    "event-query",
}


def program(name):
    """The literals of a program, read without importing torch."""
    source = (HERE / "programs" / f"{name}.py").read_text()
    wanted = {"EXPECT", "CASES", "CAPTURE"}
    found = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and node.targets[0].id in wanted
    }
    assert set(found) == wanted, name
    return found, source.splitlines()


def line_of(lines, marker):
    (number,) = (i for i, text in enumerate(lines, 1) if text.endswith(marker))
    return number


def recorded(name, suffix=""):
    path = RECORDED / f"{name}{suffix}.sqlite.xz"
    if not path.exists():
        pytest.skip(NOT_RECORDED)
    return path


def source_lines(finding):
    return {f"{finding.file}:{line}" for line in finding.lines}


def matches(finding, expected):
    return (
        finding.rule == expected["rule"]
        and expected.get("bytes") in {None, finding.bytes}
        and expected.get("kinds", "") in (finding.kinds or "")
    )


def test_there_are_enough_programs_for_every_rule():
    expected = {n: program(n)[0]["EXPECT"] for n in NAMES}
    with_findings = [n for n, e in expected.items() if e]
    clean = [n for n, e in expected.items() if not e]
    assert len(with_findings) >= 14
    assert len(clean) >= 3
    covered = {one["rule"] for e in expected.values() for one in e}
    # torch 2.11 makes a pageable copy of a strided pinned one: no program shows the slow call.
    in_traces = {rule.id for rule in rules() if rule.replays is None}
    # What values change needs two recordings (tests/faults/test_blockers.py).
    assert covered == in_traces - {"slow-pinned-htod", "frozen-launch"}


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_well_formed(name):
    found, lines = program(name)
    assert found["CAPTURE"] in {"fails", "succeeds"}
    for one in found["EXPECT"]:
        assert line_of(lines, one["line_marker"])
        assert one["count_per_step"] > 0
        assert one["rule"] in {rule.id for rule in rules()}


@pytest.mark.parametrize("name", NAMES)
def test_its_trace_gives_the_expected_findings_and_no_other(name):
    trace = read_trace(recorded(name))
    steps = summarize(trace).steps
    assert len(steps) == 3
    findings = find_blockers(trace, steps)
    expected = program(name)[0]["EXPECT"]
    for one in expected:
        # Lines of one function with the same bytes are one finding.
        alike = [
            e for e in expected if all(e.get(k) == one.get(k) for k in ("rule", "bytes", "kinds"))
        ]
        total = sum(f.count_per_step for f in findings if matches(f, one))
        assert total == sum(e["count_per_step"] for e in alike), (one, findings)
    strays = [f for f in findings if not any(matches(f, one) for one in expected)]
    assert not strays


def findings_with_stacks(name):
    path = recorded(name, ".stacks")
    stacks, trace = read_stacks(path), read_trace(path)
    return stacks, find_blockers(trace, summarize(trace).steps, stacks=stacks)


def test_there_are_enough_programs_with_stacks():
    assert len(OPERATORS) >= 14
    assert set(OPERATORS) == set(WITH_STACKS)


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_its_native_stacks_name_the_operator(name):
    _, findings = findings_with_stacks(name)
    for one, operator in zip(program(name)[0]["EXPECT"], OPERATORS[name], strict=True):
        mine = [f for f in findings if matches(f, one)]
        assert any(operator in frame for f in mine for frame in f.stack), (operator, mine)


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_its_python_stacks_give_the_source_lines(name):
    stacks, findings = findings_with_stacks(name)
    if not stacks.python:
        pytest.skip(NO_NAMES)
    found, lines = program(name)
    for one in found["EXPECT"]:
        known = {line for f in findings if matches(f, one) for line in source_lines(f)}
        assert f"{name}.py:{line_of(lines, one['line_marker'])}" in known, findings


def test_stacks_and_no_stacks_give_the_same_counts():
    for name in OPERATORS:
        _, findings = findings_with_stacks(name)
        trace = read_trace(recorded(name))
        plain = find_blockers(trace, summarize(trace).steps)
        counts = [Counter(), Counter()]
        for some, count in zip((findings, plain), counts, strict=True):
            for f in some:
                count[f.rule, f.kinds, f.bytes] += f.count_per_step
        assert counts[0] == counts[1], name


def test_a_copy_that_no_one_waits_for_leaves_no_stack():
    _, findings = findings_with_stacks("nonblocking_pageable")
    assert [(f.rule, f.bytes, f.source, f.stack) for f in findings] == [
        ("pageable-htod", 8, None, ())
    ]


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith("clean_")])
def test_dispatch_events_give_the_source_lines(name):
    found, lines = program(name)
    path = RECORDED / "captures.json"
    if not path.exists():
        pytest.skip(NOT_RECORDED)
    expected = [e for e in found["EXPECT"] if e["rule"] in EVENTS_KNOWN]
    trace = read_trace(recorded(name))
    events = recorded_events(name)
    findings = find_blockers(trace, summarize(trace).steps, dispatch_events=events)
    for one in expected:
        known = {line for f in findings if matches(f, one) for line in source_lines(f)}
        assert f"{name}.py:{line_of(lines, one['line_marker'])}" in known, findings


@pytest.mark.parametrize("name", NAMES)
def test_a_real_capture_agrees(name):
    path = RECORDED / "captures.json"
    if not path.exists():
        pytest.skip(NOT_RECORDED)
    attempt = json.loads(path.read_text())["captures"][name]
    found, lines = program(name)
    assert attempt["status"] == {"fails": "failed", "succeeds": "captured"}[found["CAPTURE"]]
    if attempt["status"] == "failed":
        wanted = {f"{name}.py:{line_of(lines, e['line_marker'])}" for e in found["EXPECT"]}
        assert attempt["source"] in wanted


def expected_at(name, source):
    """Expectations of a program at the line where its capture failed."""
    found, lines = program(name)
    return [e for e in found["EXPECT"] if f"{name}.py:{line_of(lines, e['line_marker'])}" == source]


@pytest.mark.parametrize("events_known", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_attempt_confirms_no_more_than_what_failed(name, events_known):
    path = RECORDED / "captures.json"
    if not path.exists():
        pytest.skip(NOT_RECORDED)
    trace, attempt = read_trace(recorded(name)), recorded_attempt(name)
    events = recorded_events(name) if events_known else None
    findings = find_blockers(trace, summarize(trace).steps, attempt=attempt, dispatch_events=events)
    confirmed = [f for f in findings if f.confidence == "confirmed"]
    if attempt.captured:
        silent = {"data_dependent_loop", "hidden_stream", "stale_pinned_input"}
        wanted = "suspected" if name in silent else "cleared"
        assert {f.confidence for f in findings} <= {wanted}
        return
    there = expected_at(name, attempt.blockers[0].source)
    of_the_trace = [f for f in confirmed if f.kinds is not None]
    assert all(any(matches(f, one) for one in there) for f in of_the_trace)
    assert of_the_trace or not events_known
    # A failure that the trace alone cannot place is told once, without a guess.
    assert len(confirmed) >= 1
    assert len(confirmed) - len(of_the_trace) <= (0 if of_the_trace else 1)


def test_what_goes_wrong_silently_is_not_said_to_block():
    from launchlens.report.findings import verdict_words

    for name in ("hidden_stream", "stale_pinned_input", "data_dependent_loop"):
        trace = read_trace(recorded(name))
        (finding,) = find_blockers(trace, summarize(trace).steps)
        assert finding.silent
        assert verdict_words(finding) == "may make replays go wrong silently (suspected)"


def test_what_went_wrong_silently_is_said():
    trace = read_trace(recorded("hidden_stream"))
    (finding,) = find_blockers(trace, summarize(trace).steps, attempt=attempted(captured=True))
    assert finding.confidence == "suspected"
    assert "not in the graph" in finding.note


def test_a_refused_copy_is_no_proof_of_its_direction():
    """Ids go down, rows come up; torch refuses both with one text, and the first failed."""
    trace, name = read_trace(recorded("cpu_embedding")), "cpu_embedding"
    findings = find_blockers(trace, summarize(trace).steps, attempt=recorded_attempt(name))
    assert (findings[0].rule, findings[0].confidence) == ("unknown", "confirmed")
    assert {f.confidence for f in findings[1:]} == {"likely"}


def test_what_is_committed_holds_no_secrets():
    files = sorted(RECORDED.glob("*.xz"))
    if not files:
        pytest.skip(NOT_RECORDED)
    assert {p.name: find_secrets(p) for p in files if find_secrets(p)} == {}
    assert sum(p.stat().st_size for p in files) < 4_000_000
