"""A rule for blockers is one file; its findings are then seen wherever findings are.

The rule is invented for this test: it takes a step's memsets for blockers.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from build_trace import TraceBuilder

ROOT = Path(__file__).parents[2]
TRACE = ROOT / "traces/qwen3-0.6b-eager.nsys2025.3.sqlite.xz"
GRAPH = ROOT / "traces/qwen3-0.6b-cudagraph.node.nsys2025.3.sqlite.xz"
MEMSETS = 232 // 8
"""Memsets of the trace and steps, as its card has them from SQL."""

RULE = '''
"""Memory is set inside the step.

What: memset calls.

Why it matters: for this test alone.
"""

from __future__ import annotations

from launchlens.blockers.hits import Hits, Rule, call_hits
from launchlens.blockers.view import View
from launchlens.blockers.words import by_call_name, call_title
from launchlens.calls import CallKind


def find(view: View) -> list[Hits]:
    """Memsets of the steps."""
    rows, step = view.rows_with(CallKind.MEMSET)
    return [
        call_hits(view, *chosen, name, "likely")
        for name, chosen in by_call_name(view, rows, step)
    ]


RULE = Rule(
    id="memory-set",
    rank=200,
    strength="none",
    remedy="Leave the memory as it is.",
    title=call_title("memory is set: {kinds}"),
    find=find,
    errors=("generator-read",),
)
'''

TIMING = '''
"""Something times work inside the step.

What: cudaEventElapsedTime.
"""

from __future__ import annotations

from launchlens.blockers.hits import Hits, Rule, call_hits
from launchlens.blockers.view import View
from launchlens.blockers.words import call_title

CALLS = r"cu(da)?EventElapsedTime"


def find(view: View) -> list[Hits]:
    """Timings of the steps."""
    return [call_hits(view, *view.rows_named(CALLS), "cudaEventElapsedTime", "likely")]


RULE = Rule(
    id="event-timing",
    rank=200,
    strength="none",
    remedy="Time the step from outside.",
    title=call_title("work is timed: {kinds}"),
    find=find,
    calls=CALLS,
)
'''


@pytest.fixture
def with_rule(house):
    house.add("blockers/rules/memory_set.py", RULE.lstrip())
    assert house.touched == ["blockers/rules/memory_set.py"]
    return house


def test_every_report_of_blockers_shows_it(with_rule):
    report = json.loads(with_rule.run("blockers", TRACE, "-f", "json"))
    (finding,) = [f for f in report["findings"] if f["rule"] == "memory-set"]
    assert (finding["count_per_step"], finding["kinds"]) == (MEMSETS, "cudaMemsetAsync")
    for form in ("terminal", "markdown"):
        shown = with_rule.run("blockers", TRACE, "-f", form)
        assert f"{MEMSETS} × memory is set: cudaMemsetAsync: likely blocks capture" in shown
        assert "Leave the memory as it is." in shown
        assert "1 other finding" in shown or "1 finding" in shown  # it is no copy


def test_limits_count_it_and_comparisons_list_it(with_rule):
    gated = ("diff", GRAPH, TRACE, "--fail-on", "blockers")
    broken = with_rule.start(*gated)
    assert broken.returncode == 3, broken.stderr
    assert f"memory-set × {MEMSETS}" in broken.stdout + broken.stderr
    listed = json.loads(with_rule.run(*gated, "-f", "json", code=3))
    assert "memory-set" in json.dumps(listed)
    page = with_rule.work / "page.html"
    with_rule.run(*gated, "-f", "html", "-o", page, code=3)
    assert "memory is set: cudaMemsetAsync" in page.read_text()


def test_its_error_names_it(with_rule):
    script = (
        "from launchlens.blockers.confirm import rule_of_error as rule; "
        "print(rule('Cannot call CUDAGeneratorImpl::seed during CUDA graph capture'))"
    )
    assert with_rule.python("-c", script).stdout.strip() == "memory-set"


def test_without_the_file_nothing_knows_it(house):
    assert "memory-set" not in house.run("blockers", TRACE)


def test_calls_that_a_rule_has_for_its_own_are_reported_by_no_other(house):
    drawn = TraceBuilder()
    for i in range(4):
        drawn.range("prefill", 1000 * i, 1000 * i + 500)
        drawn.launch(1000 * i + 10, 1000 * i + 20, kernel=(1000 * i + 30, 1000 * i + 40))
        drawn.call("cudaEventElapsedTime_v2_v12080", 1000 * i + 50, 1000 * i + 60)
    trace = drawn.write(house.work / "timed.sqlite")

    def reported():
        findings = json.loads(house.run("blockers", trace, "-f", "json"))["findings"]
        return [(f["rule"], f["count_per_step"]) for f in findings]

    assert reported() == [("lazy-load", 1)]
    house.add("blockers/rules/event_timing.py", TIMING.lstrip())
    assert reported() == [("event-timing", 1)]
    assert house.touched == ["blockers/rules/event_timing.py"]
