"""What docs/blockers.md says of the recorded programs is what their recordings give."""

import json
import re
from pathlib import Path

import pytest
from test_blocker_programs import NAMES, RECORDED

from launchlens.blockers import find_blockers, rules
from launchlens.capture_errors import ERRORS, find_error
from launchlens.metrics import summarize
from launchlens.trace import read_trace

PAGE = Path(__file__).parents[2] / "docs" / "blockers.md"


def seen_rows(name):
    """Rows of a program: what is in each step, how long the host sat in it, what capture did."""
    trace = read_trace(RECORDED / f"{name}.sqlite.xz")
    attempt = json.loads((RECORDED / "captures.json").read_text())["captures"][name]
    outcome = "captured"
    if attempt["status"] == "failed":
        text = attempt["error_line"].removeprefix("CUDA error: ")
        text = re.sub(r" during CUDA graph capture unless .*", " …", text)
        outcome = f"fails at line {attempt['source'].rpartition(':')[2]}: {text}"
    for f in find_blockers(trace, summarize(trace).steps):
        size = f", {f.bytes:,} {'byte' if f.bytes == 1 else 'bytes'}" if f.bytes is not None else ""
        host = f"{f.host_ns / 1000:.0f} µs" if f.host_ns is not None else "–"
        yield f.rule, f"| `{name}` | {f.count_per_step:g} × {f.kinds}{size} | {host} | {outcome} |"


def section(rule):
    return PAGE.read_text().split(f"### {rule}\n")[1].split("\n##")[0]


@pytest.mark.parametrize("name", NAMES)
def test_every_recorded_finding_stands_in_its_rules_section(name):
    for rule, row in seen_rows(name):
        assert row in section(rule).splitlines()


def test_no_section_shows_more_than_was_recorded():
    rows = {row for name in NAMES for _, row in seen_rows(name)}
    for rule in rules():
        shown = {line for line in section(rule.id).splitlines() if line.startswith("| `")}
        assert shown <= rows


def documented_errors():
    """Texts of the page's table of errors, and the rules that it sends readers to."""
    table = PAGE.read_text().split("## Errors and what they mean\n")[1].split("\n##")[0]
    rows = [
        [c.strip() for c in line.split("|")[1:4]]
        for line in table.splitlines()
        if line.startswith("| ")
    ]
    return {row[0]: set(re.findall(r"[a-z]+(?:-[a-z]+)+|alloc", row[2])) for row in rows[1:]}


def test_every_known_error_is_in_the_table_and_sends_readers_to_rules_that_answer_to_it():
    known = set()
    for text, named in documented_errors().items():
        error = find_error(text)
        assert error is not None, text
        known.add(error.name)
        answering = {rule.id for rule in rules() if error.name in rule.errors}
        assert named <= answering, text
        assert bool(named) == bool(answering), text
    assert known == {error.name for error in ERRORS}
