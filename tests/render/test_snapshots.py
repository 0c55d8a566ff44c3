"""Whole reports on shipped traces, kept as text: tests/snapshots/.

``make snapshots`` (LAUNCHLENS_UPDATE_SNAPSHOTS=1) writes them anew; read the diff before you
commit it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from written import as_markdown, in_terminal

from launchlens.comparison import compare
from launchlens.metrics import summarize
from launchlens.records.comparison import SideInput
from launchlens.trace import read_trace

ROOT = Path(__file__).parents[2]
SNAPSHOTS = ROOT / "tests" / "snapshots"
UPDATE = os.environ.get("LAUNCHLENS_UPDATE_SNAPSHOTS") == "1"


@pytest.fixture(scope="module")
def eager():
    return summarize(read_trace(ROOT / "traces/gemma-4-e4b-eager.nsys2025.3.sqlite.xz"))


@pytest.fixture(scope="module")
def diff(eager):
    captured = summarize(
        read_trace(ROOT / "traces/gemma-4-e4b-cudagraph.node.nsys2025.3.sqlite.xz")
    )
    return compare([SideInput(a.trace.label, a) for a in (eager, captured)])


def matches(name, text):
    path = SNAPSHOTS / name
    if UPDATE:
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), "no snapshot yet: run make snapshots"
    assert text == path.read_text(encoding="utf-8"), "run make snapshots and read the diff"


def test_diff_in_the_terminal(diff):
    matches("diff-terminal.txt", in_terminal(diff, width=80))


def test_diff_in_a_narrow_terminal(diff):
    matches("diff-terminal-40.txt", in_terminal(diff, width=40))


def test_diff_in_the_terminal_with_details(diff):
    matches("diff-terminal-verbose.txt", in_terminal(diff, verbose=True, width=80))


def test_diff_as_markdown(diff):
    matches("diff-markdown.md", as_markdown(diff))


def test_analysis_in_the_terminal(eager):
    matches("analyze-terminal.txt", in_terminal(eager, width=80))


def test_analysis_as_markdown(eager):
    matches("analyze-markdown.md", as_markdown(eager))


def test_analysis_of_a_trace_without_its_graph_work():
    path = ROOT / "traces/gemma-3n-cudagraph.default-mode.nsys2023.4.sqlite.xz"
    matches("analyze-missing.txt", in_terminal(summarize(read_trace(path)), width=80))
