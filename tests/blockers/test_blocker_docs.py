"""What docs/blockers.md says of the recorded programs is what their recordings give."""

import json
import re
from pathlib import Path

import pytest
from test_blocker_programs import NAMES, RECORDED

from launchlens.blockers import find_blockers, rules
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
