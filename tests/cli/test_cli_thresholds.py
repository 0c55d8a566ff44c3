"""A threshold that makes no sense ends a command before it has read or recorded anything."""

from __future__ import annotations

import pytest
from stored_runs import EAGER

COMMANDS = (
    ("analyze", "missing.sqlite"),
    ("diff", "missing.sqlite", "other.sqlite"),
    ("blockers", "missing.sqlite"),
    ("comment", "missing.json", "--repo", "o/r", "--pr", "7", "--dry-run"),
    ("profile", "--model", "no-such-model"),
)
"""Each would end otherwise, and differently, if it looked for what it is given."""


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_misspelt_metric_names_the_near_ones(fails, command):
    said = fails(*command, "--fail-on", "prefill:lauches>+0", code=2)
    assert said == (
        "launchlens: 'prefill:lauches>+0' is no threshold: there is no metric lauches. "
        "Did you mean launches?\n"
    )


def test_a_metric_that_is_like_none(fails):
    said = fails("analyze", "missing.sqlite", "--fail-on", "xyzzy>3", code=2)
    assert said.endswith("there is no metric xyzzy. docs/definitions.md lists all metrics.\n")


@pytest.mark.parametrize("condition", ["launches>+0", "untraced_ns>5ms", "ttft_ns>5ms"])
def test_what_one_trace_cannot_answer_is_refused_without_a_report(fails, condition):
    """Neither a change nor a figure of runs; `fails` sees that no report was printed."""
    fails("analyze", EAGER, "--fail-on", condition, code=2)
    fails("analyze", "missing.sqlite", "--fail-on", condition, code=2)
