"""The programs of public cases: their recorded traces give exactly the expected findings.

`record.py` recorded them on a GPU; what is expected stands in each program, by what the code
does, and `recorded/captures.json` holds what a real capture attempt said.
"""

import ast
import json
from collections import Counter
from pathlib import Path

import pytest

from launchlens.blockers import RULES, find_blockers
from launchlens.blockers.confirm import source_lines
from launchlens.metrics import summarize
from launchlens.trace import read_trace
from launchlens.trace.scrub import find_secrets
from launchlens.trace.stacks import read_stacks

HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
NAMES = sorted(p.stem for p in (HERE / "programs").glob("*.py") if not p.stem.startswith("_"))
NOT_RECORDED = "not recorded yet: run tests/blockers/record.py on a machine with a GPU"
# A synchronize and a query leave a native stack; work on a stream, a sequence or an input do not.
LINES_KNOWN = {"pageable-htod", "dtoh-sync", "explicit-sync"}
EVENTS_KNOWN = {*LINES_KNOWN, "slow-pinned-htod", "stale-input", "event-query"}


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


def rules_of(expected):
    return expected["rule"] if isinstance(expected["rule"], list) else [expected["rule"]]


def matches(finding, expected):
    return (
        finding.rule in rules_of(expected)
        and expected.get("bytes") in {None, finding.bytes}
        and expected.get("kinds", "") in (finding.kinds or "")
    )


def test_there_are_enough_programs_for_every_rule():
    expected = {n: program(n)[0]["EXPECT"] for n in NAMES}
    with_findings = [n for n, e in expected.items() if e]
    clean = [n for n, e in expected.items() if not e]
    assert len(with_findings) >= 14
    assert len(clean) >= 3
    covered = {rule for e in expected.values() for one in e for rule in rules_of(one)}
    assert covered == {rule.id for rule in RULES}


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_well_formed(name):
    found, lines = program(name)
    assert found["CAPTURE"] in {"fails", "succeeds", "unknown"}
    for one in found["EXPECT"]:
        assert line_of(lines, one["line_marker"])
        assert one["count_per_step"] > 0
        assert set(rules_of(one)) <= {rule.id for rule in RULES}


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


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith("clean_")])
def test_its_stacks_give_the_source_lines(name):
    found, lines = program(name)
    expected = [e for e in found["EXPECT"] if set(rules_of(e)) & LINES_KNOWN]
    path = recorded(name, ".stacks")
    stacks = read_stacks(path)
    trace = read_trace(path)
    findings = find_blockers(trace, summarize(trace).steps, stacks=stacks)
    for one in expected:
        known = {line for f in findings if matches(f, one) for line in source_lines(f.source)}
        assert f"{name}.py:{line_of(lines, one['line_marker'])}" in known, findings


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith("clean_")])
def test_dispatch_events_give_the_source_lines(name):
    found, lines = program(name)
    path = RECORDED / "captures.json"
    if not path.exists():
        pytest.skip(NOT_RECORDED)
    expected = [e for e in found["EXPECT"] if set(rules_of(e)) & EVENTS_KNOWN]
    trace = read_trace(recorded(name))
    events = json.loads(path.read_text())["events"][name]
    findings = find_blockers(trace, summarize(trace).steps, dispatch_events=events)
    for one in expected:
        known = {line for f in findings if matches(f, one) for line in source_lines(f.source)}
        assert f"{name}.py:{line_of(lines, one['line_marker'])}" in known, findings


@pytest.mark.parametrize("name", NAMES)
def test_a_real_capture_agrees(name):
    path = RECORDED / "captures.json"
    if not path.exists():
        pytest.skip(NOT_RECORDED)
    attempt = json.loads(path.read_text())["captures"][name]
    found, lines = program(name)
    if found["CAPTURE"] == "unknown":
        return
    assert attempt["status"] == {"fails": "failed", "succeeds": "captured"}[found["CAPTURE"]]
    if attempt["status"] == "failed":
        wanted = {f"{name}.py:{line_of(lines, e['line_marker'])}" for e in found["EXPECT"]}
        assert attempt["source"] in wanted


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_attempt_confirms_or_clears(name):
    path = RECORDED / "captures.json"
    if not path.exists():
        pytest.skip(NOT_RECORDED)
    trace = read_trace(recorded(name))
    attempt = json.loads(path.read_text())["captures"][name]
    findings = find_blockers(trace, summarize(trace).steps, attempt=attempt)
    kinds = Counter(f.confidence for f in findings)
    if attempt["status"] == "captured":
        assert not kinds["confirmed"]
    elif len(findings) == 1:
        assert kinds["confirmed"] == 1


def test_what_is_committed_holds_no_secrets():
    files = sorted(RECORDED.glob("*.xz"))
    if not files:
        pytest.skip(NOT_RECORDED)
    assert {p.name: find_secrets(p) for p in files if find_secrets(p)} == {}
    assert sum(p.stat().st_size for p in files) < 4_000_000
