"""Reports for narrow terminals and pipes: nothing cut, numbers whole, colour only on request."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from handmade import comparison, failed_candidate
from rich.cells import cell_len
from written import in_terminal

from launchlens.comparison import compare
from launchlens.metrics import summarize
from launchlens.records.comparison import SideInput
from launchlens.trace import read_trace

TRACES = Path(__file__).parents[2] / "traces"
WIDTHS = (40, 60, 80, 120)


def load(*names):
    return [summarize(read_trace(TRACES / f"{n}.nsys2025.3.sqlite.xz")) for n in names]


@pytest.fixture(scope="module")
def analyses():
    return load("gemma-4-e4b-eager", "gemma-4-e4b-cudagraph.node", "gemma-4-e4b-breakable.node")


def compared(analyses):
    return compare([SideInput(a.trace.label, a) for a in analyses])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("verbose", [False, True])
def test_no_line_is_wider_than_the_terminal(analyses, width, verbose):
    reports = [
        in_terminal(analyses[0], verbose=verbose, width=width),
        in_terminal(compared(analyses[:2]), verbose=verbose, width=width),
        in_terminal(compared(analyses), verbose=verbose, width=width),
    ]
    for report in reports:
        # Commands are copied, and so never folded.
        lines = [line for line in report.splitlines() if not line.startswith("launchlens ")]
        assert max(cell_len(line) for line in lines) <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_no_number_and_no_verdict_is_cut(analyses, width):
    report = in_terminal(compared(analyses[:2]), width=width)
    unwrapped = " ".join(report.split())
    for words in ("72.0 ms", "14.3 ms", "84.9%", "17.5%", "−67.5 pp", "641.8 µs"):
        assert words in report, words
    assert "−3827 (−99.97%)" in unwrapped
    assert len(re.findall(r"\bbetter\b", report)) == 8
    assert len(re.findall(r"\bworse\b", report)) == 3


@pytest.mark.parametrize("width", WIDTHS)
def test_medians_of_an_analysis_are_whole_at_any_width(analyses, width):
    report = in_terminal(analyses[0], width=width)
    for line in (
        "launches per step +3828",
        "step, traced +72.0 ms",
        "launch cost, all calls +20.6 ms",
    ):
        assert re.search(line, report), line


def test_the_first_line_is_the_answer(analyses):
    report = in_terminal(compared(analyses[:2]), width=200)
    assert report.split("\n")[0] == (
        "gemma-4-e4b-eager → cudagraph: launches per prefill step 3828 → 1, "
        "GPU idle 84.9% → 17.5%, step 72.0 → 14.3 ms (traced)"
    )


def test_each_candidate_gets_its_sentence(analyses):
    lines = in_terminal(compared(analyses), width=200).split("\n")
    assert [line.partition(":")[0] for line in lines[:2]] == [
        "gemma-4-e4b-eager → cudagraph",
        "gemma-4-e4b-eager → breakable",
    ]


def test_untraced_times_take_the_place_of_traced_ones_and_say_so():
    first = in_terminal(comparison(), width=300).split("\n")[0]
    assert first.endswith("step 49.1 → 13.0 ms untraced (3.8× faster)")


def test_a_candidate_that_failed_says_where():
    made = failed_candidate(comparison())
    phase = replace(made.phases[0], steps=(5, 0))
    first = in_terminal(replace(made, phases=(phase,)), width=300).split("\n")[0]
    assert "cudagraph: could not be captured at modeling_gemma3n.py:1727" in first


def test_unknown_idle_says_why():
    (missing,) = [
        summarize(read_trace(TRACES / "gemma-3n-cudagraph.default-mode.nsys2023.4.sqlite.xz"))
    ]
    report = in_terminal(missing, width=100)
    first = report.split("\n\n")[0].replace("\n", " ")
    assert "GPU idle unknown: the trace does not hold what 1 of 1 graph launches ran" in first
    assert "--cuda-graph-trace=node" in first
    assert re.search(r"GPU idle, traced +unknown", report)
    assert re.search(r"launches per step +1 ", report)


def test_a_bound_is_marked_in_the_sentence_of_whole_graphs():
    (spans,) = load("qwen3-0.6b-cudagraph.graph")
    assert "GPU idle ≥ " in in_terminal(spans, width=200).split("\n")[0]


def test_node_against_whole_graph_is_said_beside_the_table():
    sides = load("qwen3-0.6b-cudagraph.node", "qwen3-0.6b-cudagraph.graph")
    report = " ".join(in_terminal(compared(sides), width=100).split())
    assert "node-level and whole-graph tracing are set side by side" in report
    assert "that side's idle is a lower bound" in report
    assert re.search(r"GPU idle, traced .*?≥ .*? inconclusive", report)


def test_colour_only_on_request(analyses):
    made = compared(analyses[:2])
    assert "\x1b[" not in in_terminal(made, width=100)
    coloured = in_terminal(made, width=100, color=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured).split() == (in_terminal(made, width=100).split())


def test_verbose_lists_kernels_intervals_gaps_and_provenance(analyses):
    made = compared(analyses[:2])
    short, long = in_terminal(made, width=100), in_terminal(made, verbose=True)
    for words in (
        "95% interval",
        "kernel, per step",
        "Gaps by length",
        "provenance",
        "SHA-256",
        "TKLQT",
    ):
        assert words in long
        assert words not in short


@pytest.mark.parametrize("width", [70, 80])
def test_many_sides_have_a_line_each(width):
    variants = [
        "eager",
        "compile-cudagraphs-backend",
        "compile",
        "cudagraph",
        "breakable",
        "piecewise",
    ]
    files = [f"profile-qwen3-0.6b-{v}.node" for v in variants]
    sides = [SideInput(f"q-{v}", a) for v, a in zip(variants, load(*files), strict=True)]
    report = in_terminal(compare(sides), width=width)
    assert max(cell_len(line) for line in report.splitlines()) <= width
    # Launches as the cards' own SQL counts them.
    for variant, launches in zip(variants, (1569, 1, 468, 1, 197, 197), strict=True):
        assert re.search(rf"^{variant} +{launches}( |$)", report, re.MULTILINE), variant
