"""What pages say, kept as text: tests/snapshots/html-*.txt (``make snapshots`` writes them)."""

from __future__ import annotations

from pathlib import Path

import handmade
import pytest
from page_text import page_text
from test_snapshots import matches
from written import as_html

from launchlens.comparison import compare
from launchlens.metrics import summarize, summarize_measured
from launchlens.metrics.timeline import build_timeline, representative_step
from launchlens.records.comparison import SideInput
from launchlens.trace import read_trace
from launchlens.workflow.blockers import report_blockers
from launchlens.workflow.load import Choices

TRACES = Path(__file__).parents[2] / "traces"


def read(name):
    return read_trace(TRACES / f"{name}.nsys2025.3.sqlite.xz")


def with_timeline(name):
    trace = read(name)
    analysis, measured = summarize_measured(trace)
    step = representative_step(analysis, analysis.summary[0])
    return analysis, [build_timeline(trace, measured, step, side=analysis.trace.label)]


@pytest.mark.parametrize(
    ("case", "trace"),
    [
        ("eager", "gemma-4-e4b-eager"),
        ("graph-nodes", "qwen3-0.6b-cudagraph.node"),
        ("graph-whole", "qwen3-0.6b-cudagraph.graph"),
    ],
)
def test_one_trace(case, trace):
    matches(f"html-{case}.txt", page_text(as_html(*with_timeline(trace))))


def test_a_trace_without_its_graph_work():
    path = TRACES / "gemma-3n-cudagraph.default-mode.nsys2023.4.sqlite.xz"
    matches("html-missing.txt", page_text(as_html(summarize(read_trace(path)))))


def test_five_variants():
    variants = ("eager", "cudagraph", "breakable", "piecewise", "compile-cudagraph")
    sides = [
        SideInput(f"qwen3-0.6b-{v}", summarize(read(f"profile-qwen3-0.6b-{v}.node")))
        for v in variants
    ]
    matches("html-five-variants.txt", page_text(as_html(compare(sides))))


def test_a_failed_variant():
    made = handmade.failed_candidate(handmade.comparison())
    matches("html-failed.txt", page_text(as_html(made)))


def test_blockers():
    path = TRACES / "gemma-3n-e4b-eager.nsys2025.3.sqlite.xz"
    matches("html-blockers.txt", page_text(as_html(report_blockers(path, Choices()))))
