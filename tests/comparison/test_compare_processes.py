"""Untraced times of several processes, and small changes that one process cannot show."""

from __future__ import annotations

import random
import statistics

import pytest
from handmade import analysis, group, stat

from launchlens.comparison import compare
from launchlens.comparison.processes import judge_untraced
from launchlens.limits import check_comparison, parse_condition
from launchlens.protocol.timings import TimedSteps
from launchlens.records.blocking import PatchEffect
from launchlens.records.comparison import SideInput
from launchlens.records.figures import Stat
from launchlens.records.variant import Equivalence, Untraced, VariantFacts
from launchlens.report.blockers import effect_lines
from launchlens.report.comparison_first import comparison_sentences
from launchlens.workflow.profiling.gather import untraced_of

# Untraced prefill steps of Gemma 3n E4B on an H200, each process's median: docs/gemma-3n.md.
EAGER = (79_540_000, 72_660_000, 75_830_000)
BOTH_FIXES = (71_430_000, 73_330_000)
CAPTURED = (16_320_000, 16_200_000)


def timed(*processes):
    """Twenty steps in each process, all alike."""
    return untraced_of(*({"prefill": TimedSteps((ns,) * 20, ns)} for ns in processes))[0]


def side(label, untraced, busy_ns=13_400_000):
    metrics = {"kernels": stat(5257), "busy_ns": stat(busy_ns), "window_ns": stat(105_000_000)}
    facts = VariantFacts(untraced=(untraced,))
    return SideInput(label, analysis([group(metrics=metrics)]), facts=facts)


def untraced_cell(*sides):
    made = compare(sides)
    return next(r for r in made.phases[0].rows if r.metric == "untraced_ns").cells[1], made


def test_a_process_counts_once_however_many_steps_it_ran():
    results = [
        {"prefill": TimedSteps(samples, round(statistics.median(samples)))}
        for samples in ((1, 2, 3), (10, 11, 12, 11, 11, 11, 11), (4, 5, 6))
    ]
    (pooled,) = untraced_of(*results)
    assert pooled.processes_ns == (2, 11, 5)
    assert pooled.wall_ns.median == 5
    # Mean 6, standard deviation √21; t of two degrees of freedom 4.303: 6 ± 11.4, no time below 0.
    assert (pooled.wall_ns.ci_low, pooled.wall_ns.ci_high) == (0, 18)
    assert pooled.wall_ns.n == len(pooled.samples_ns) == 13


def test_one_process_is_as_ever():
    assert timed(5).processes_ns == ()
    assert timed(5).wall_ns.median == 5


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (EAGER[:1], BOTH_FIXES[:1], "inconclusive"),  # 79.5 → 71.4 ms, one process each
        (EAGER[:1], CAPTURED[:1], "better"),
        (CAPTURED[:1], EAGER[:1], "worse"),
        (EAGER, BOTH_FIXES, "inconclusive"),  # the ranges overlap
        (EAGER, CAPTURED, "better"),
        (EAGER, BOTH_FIXES[:1], "inconclusive"),
        ((1000, 1000, 1001), (900, 900, 901), "better"),  # ten per cent, and processes agree
        ((1000, 1000, 1001), (1000, 1000, 1001), "same"),
        ((1000, 1001), (1000, 1001), "same"),
        ((1000, 1010), (1100, 1110), "inconclusive"),  # two processes: 12.7 × 5 on either side
    ],
)
def test_verdicts(before, after, verdict):
    assert judge_untraced(timed(*before), timed(*after)) == verdict


def test_processes_that_only_differ_by_chance_are_seldom_told_apart():
    """Both sides drawn from one distribution: no more than one verdict in twenty."""
    draw = random.Random(7)
    for rounds in (2, 3, 5):
        found = [
            judge_untraced(
                *(timed(*(round(draw.gauss(7e7, 5e6)) for _ in range(rounds))) for _ in "ab")
            )
            for _ in range(400)
        ]
        assert sum(v in ("better", "worse") for v in found) <= 20, rounds


def test_a_step_that_keeps_the_gpu_busy_is_judged_from_one_process():
    assert judge_untraced(timed(100), timed(90), busy_ns=80) == "better"


def test_without_a_time_there_is_no_verdict():
    nothing = Untraced("prefill", Stat(None, None, None, None, None, None, 0))
    assert judge_untraced(nothing, timed(5)) == "unknown"


def test_a_small_change_of_a_launch_bound_step_is_not_believed():
    cell, made = untraced_cell(
        side("a-eager", timed(70_300_000)), side("a-fixed", timed(66_200_000))
    )
    assert cell.verdict == "inconclusive"
    assert "70.3 → 66.2 ms, −5.8%, inconclusive" in comparison_sentences(made)[0]
    assert any("--rounds 5" in note for note in made.notes)
    corrected = next(r for r in made.phases[0].rows if r.metric == "idle_corrected").cells[1]
    assert corrected.verdict == "inconclusive"
    (gate,) = check_comparison([parse_condition("untraced_ns<-5%")], made)
    assert "a side ran in one" in gate.reason


def test_a_step_that_keeps_the_gpu_busy_does_not_scatter():
    cell, made = untraced_cell(
        side("a", timed(16_200_000)), side("b", timed(14_400_000), busy_ns=12_000_000)
    )
    assert cell.verdict == "better"
    assert not any("--rounds" in note for note in made.notes)


def test_several_processes_are_told():
    cell, made = untraced_cell(side("a", timed(*EAGER)), side("b", timed(*CAPTURED)))
    assert (cell.value, cell.verdict) == (16_260_000, "better")
    said = " ".join(made.remarks)
    assert "Untraced, a in 3 processes; b in 2 processes: times are medians" in said


def test_what_a_patch_brought():
    before, after, captured = timed(*EAGER), timed(*BOTH_FIXES), timed(*CAPTURED)
    times = {"eager": before, "eager, patched": after, "cudagraph, patched": captured}
    effect = PatchEffect(
        "fix.py",
        (),
        {name: int(u.wall_ns.median) for name, u in times.items()},
        {},
        {name: judge_untraced(before, u) for name, u in times.items() if name != "eager"},
        {name: u.processes_ns for name, u in times.items()},
    )
    assert [line.text for line in list(effect_lines(effect))[1:]] == [
        "step, untraced, eager: 75.8 ms (3 processes, 72.7 ms to 79.5 ms)",
        "step, untraced, eager, patched: 72.4 ms (−4.5%, inconclusive; 2 processes, 71.4 ms to "
        "73.3 ms)",
        "step, untraced, cudagraph, patched: 16.3 ms (4.7× faster; 2 processes, 16.2 ms to "
        "16.3 ms)",
    ]


def test_what_a_patch_brought_in_one_process_each():
    effect = PatchEffect(
        "fix.py", (), {"eager": 66_300_000, "eager, patched": 73_000_000}, {},
        {"eager, patched": "inconclusive"},
    )  # fmt: skip
    lines = list(effect_lines(effect))
    assert lines[2].text == "step, untraced, eager, patched: 73.0 ms (+10.1%, inconclusive)"
    assert "--rounds 5" in lines[3].text


def test_outputs_are_shown_beside_the_side_that_they_were_measured_against():
    same = (Equivalence("bfloat16", 0.0, identical=True, finite=True, beside="eager"),)

    def shown(baseline, command="launchlens profile"):
        sides = [
            SideInput(
                name, analysis(), facts=VariantFacts(variant=name, command=run, equivalence=e)
            )
            for name, run, e in ((baseline, "launchlens profile", ()), ("breakable", command, same))
        ]
        return compare(sides).candidates[0].facts.equivalence

    assert shown("eager") == same
    assert shown("cudagraph") == ()
    assert shown("eager", "launchlens profile --isl 512") == ()
