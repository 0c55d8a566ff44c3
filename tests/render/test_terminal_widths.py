"""Reports for narrow terminals and pipes: nothing cut, numbers whole, colour only on request."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from handmade import ROWS, comparison, failed_candidate, row
from rich.cells import cell_len
from written import in_terminal

from launchlens.comparison import compare
from launchlens.metrics import summarize
from launchlens.records.comparison import Cell, SideInput
from launchlens.records.variant import Equivalence
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
    # Parts of idle have no verdict, nor have kernels but the time that they take.
    assert len(re.findall(r"\bbetter\b", report)) == 5
    assert len(re.findall(r"\bworse\b", report)) == 1
    assert "+243 kernels cost 435.9 µs of GPU time per step" in unwrapped


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
        "gemma-4-e4b-eager → cudagraph: prefill step 72.0 → 14.3 ms, 5.1× faster, "
        "GPU idle 84.9% → 17.5% (traced); launches per step 3828 → 1"
    )


def test_of_several_candidates_the_fastest_is_named_and_a_line_each_follows(analyses):
    lines = in_terminal(compared([analyses[0], *analyses[:0:-1]]), width=200).split("\n")
    assert lines[0] == "Fastest: cudagraph, 14.3 ms, 5.1× faster (eager: 72.0 ms), traced"
    assert [line.split()[0] for line in lines[4:7]] == ["eager", "cudagraph", "breakable"]


def test_where_none_is_faster_each_gets_its_sentence(analyses):
    lines = in_terminal(compared([analyses[1], analyses[0], analyses[2]]), width=200).split("\n")
    assert [line.partition(":")[0] for line in lines[:3]] == [
        "No candidate is known to be faster than cudagraph.",
        "gemma-4-e4b-cudagraph → eager",
        "gemma-4-e4b-cudagraph → breakable",
    ]


def test_a_captured_baseline_suggests_swapping(analyses):
    sides = [
        SideInput(a.trace.label, a, reference=f"my {i}.sqlite") for i, a in enumerate(analyses)
    ]
    report = in_terminal(compare([sides[1], sides[0]]), width=300)
    assert report.splitlines()[1] == (
        "! the baseline cudagraph launches CUDA graphs and eager does not. The other way round: "
        "launchlens diff 'my 0.sqlite' 'my 1.sqlite'"
    )
    for right in ([sides[0], sides[1]], [sides[1], sides[2]], [sides[1], sides[0], sides[2]]):
        assert "way round" not in in_terminal(compare(right), width=300)


def test_the_same_trace_twice_is_said_instead_of_a_speed_up(analyses):
    first, *others = in_terminal(compared([analyses[0], analyses[0]]), width=300).splitlines()
    digest = analyses[0].trace.sha256[:12]
    assert first == (
        f"eager (1) and eager (2) are the same trace (SHA-256 {digest}…): nothing can differ."
    )
    assert not any("faster" in line for line in others)
    three = in_terminal(compared([analyses[0], analyses[1], analyses[1]]), width=300)
    assert three.startswith("Fastest: ")
    assert "! cudagraph (1) and cudagraph (2) are the same trace" in three


def test_a_phase_of_one_side_is_a_line_and_no_table():
    made = comparison()
    (phase,) = made.phases
    alone = replace(
        phase,
        phase="decode",
        steps=(8, 0),
        rows=tuple(replace(r, cells=(r.cells[0], Cell(None))) for r in phase.rows),
    )
    report = in_terminal(replace(made, phases=(phase, alone)), width=300)
    said = "! decode: only eager (8 steps) has such steps, so they are not compared."
    assert report.splitlines()[1] == said
    assert report.count("launches  ") == 1
    report = in_terminal(replace(made, phases=(alone,)), width=300)
    assert report.splitlines()[:2] == [
        "No phase is in the baseline and a candidate: nothing can be compared.",
        said,
    ]
    assert not re.search(r" unknown\b(?! vs)", report)


def test_untraced_times_take_the_place_of_traced_ones_and_say_so():
    first = in_terminal(comparison(), width=300).split("\n")[0]
    assert "prefill step 49.1 → 13.0 ms, 3.8× faster" in first
    assert "(untraced)" in first
    assert "84.7%" not in first  # idle that is traced is not like these times


def test_idle_stands_beside_the_times_that_it_is_of():
    corrected = row("idle_corrected", 0.779, 0.092, source="untraced")
    made = comparison((*ROWS, corrected))
    assert in_terminal(made, width=300).splitlines()[0] == (
        "gemma-4-e4b-eager → cudagraph: prefill step 49.1 → 13.0 ms, 3.8× faster, "
        "GPU idle 77.9% → 9.2% (untraced); launches per step 3828 → 1"
    )


def test_what_is_wrong_stands_before_any_speed_up():
    made = comparison()
    wrong = Equivalence("bfloat16", 12.5, False, True, 0.25, tolerance=0.2)
    facts = replace(made.candidates[0].facts, equivalence=(wrong,))
    side = replace(made.candidates[0], facts=facts)
    first = in_terminal(replace(made, candidates=(side,)), width=300).splitlines()[0]
    assert first.startswith(
        "gemma-4-e4b-eager → cudagraph: outputs differ by more than rounding (bfloat16: max abs "
        "difference 12.5, more than rounding explains (0.2), same top token in 25%); prefill step"
    )


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
    notes = re.search(r"\* ([^*]*): a whole-graph span counts as busy throughout", report)
    assert (
        notes[1] == "GPU idle, traced, GPU busy, idle: between operations"
    )  # those that are bounds
    assert re.search(r"GPU idle, traced +\S+ +≥ \S+ +GPU busy", report)  # no change, no verdict
    assert "GPU idle not comparable" in report


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
    # Launches as the cards' own SQL counts them, in the order of the step's time.
    table = report.split("\n\n")[1]
    for variant, launches in zip(variants, (1569, 1, 468, 1, 197, 197), strict=True):
        fits = rf" {launches}( |$)" if width > 70 else "%$"
        assert re.search(rf"^{variant} .*{fits}", table, re.MULTILINE), variant
    assert re.search(r"further metrics with -v", report)
    times = [float(ms) for ms in re.findall(r"^[a-z-]+ +([\d.]+) ms", table, re.MULTILINE)]
    assert times[0] == max(times)  # the baseline's
    assert times[1:] == sorted(times[1:])
    assert len(times) == len(variants)
