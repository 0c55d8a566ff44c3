"""Verdicts on statistics drawn by hand, with the reason for each worked out beside it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from handmade import analysis, group, stat

from launchlens.catalogue import by_name, metrics
from launchlens.comparison import compare
from launchlens.comparison.rows import judge
from launchlens.errors import UsageError
from launchlens.records.comparison import SideInput
from launchlens.records.figures import KernelRow, Stat
from launchlens.records.variant import Failure, Untraced, VariantFacts
from launchlens.report.comparison_first import comparison_sentences


def with_metrics(metrics, **changes):
    """A group that has these metrics; like any real one it counts kernels."""
    return group(metrics={"kernels": stat(100)} | metrics, **changes)


def spread(median, low, high, n=20):
    return Stat(median, low, high, high, low, high, n)


def row(metric, before, after, *, tracing=("none", "none"), **facts):
    """One row of a comparison of two groups that have only this metric."""
    sides = [
        SideInput(label, analysis([with_metrics({metric: s}, graph_tracing=how)]))
        for label, s, how in zip(("a", "b"), (before, after), tracing, strict=True)
    ]
    (phase,) = compare(sides).phases
    return next(r for r in phase.rows if r.metric == metric)


def verdict(metric, before, after, **how):
    return row(metric, before, after, **how).cells[1].verdict


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        # The smallest difference that matters is 2% of 1000: 20.
        (spread(1000, 999, 1001), spread(970, 969, 971), "better"),  # -30 ± 1.4
        (spread(1000, 999, 1001), spread(1030, 1029, 1031), "worse"),
        (spread(1000, 999, 1001), spread(1010, 1009, 1011), "same"),  # +10 ± 1.4
        (spread(1000, 999, 1001), spread(981, 980, 982), "inconclusive"),  # -19 ± 1.4 crosses -20
        (spread(1000, 900, 1100), spread(970, 969, 971), "inconclusive"),  # -30 ± 100
        (spread(1000, 900, 1100), spread(700, 690, 710), "better"),  # -300 ± 100
        (spread(1000, 999, 1001), spread(1000, 980, 1030), "inconclusive"),  # up to +30
        (spread(1000, 1000, 1000), spread(980, 980, 980), "same"),  # exactly the margin
        (spread(1000, 1000, 1000), spread(979, 979, 979), "better"),
        (spread(0, 0, 0), spread(0, 0, 0), "same"),
        (spread(0, 0, 0), spread(5, 5, 5), "worse"),
    ],
)
def test_times(before, after, expected):
    assert verdict("window_ns", before, after) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (spread(0.847, 0.846, 0.848), spread(0.176, 0.17, 0.18), "better"),
        (spread(0.40, 0.40, 0.40), spread(0.415, 0.415, 0.415), "worse"),  # 1.5 points
        (spread(0.40, 0.40, 0.40), spread(0.405, 0.405, 0.405), "same"),  # half a point
        (spread(0.40, 0.39, 0.41), spread(0.405, 0.395, 0.415), "inconclusive"),
        # 1% relative would be 0.0001 here: it is points that count.
        (spread(0.01, 0.01, 0.01), spread(0.015, 0.015, 0.015), "same"),
    ],
)
def test_idle_is_judged_in_percentage_points(before, after, expected):
    assert verdict("idle", before, after) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (stat(3828), stat(3828), "same"),
        (stat(3828), stat(3829), "worse"),  # one more is one more, whatever the share
        (stat(3828), stat(1), "better"),
        (spread(10, 10, 10), spread(10.5, 10, 11), "inconclusive"),
        (Stat(10, 10, 10, 10, None, None, 1), Stat(9, 9, 9, 9, None, None, 1), "better"),
    ],
)
def test_counts_are_judged_by_one(before, after, expected):
    assert verdict("launches", before, after) == expected


def test_a_time_of_a_single_step_proves_nothing():
    one = Stat(1000, 1000, 1000, 1000, None, None, 1)
    other = Stat(100, 100, 100, 100, None, None, 1)
    assert verdict("window_ns", one, other) == "inconclusive"


@pytest.mark.parametrize("name", ["graph_launches", "tklqt_ns", "queue_ns", "tail_ns"])
def test_figures_of_which_neither_less_nor_more_is_better_get_no_verdict(name):
    assert verdict(name, stat(1), stat(900)) == "neutral"


def test_more_of_a_rate_is_better():
    rate = replace(by_name()["window_ns"], better="more")
    assert judge(rate, spread(10, 10, 10), spread(12, 12, 12), 0.2) == "better"
    assert judge(rate, spread(12, 12, 12), spread(10, 10, 10), 0.2) == "worse"


@pytest.mark.parametrize(
    ("before", "after"),
    [(stat(1000), stat(None)), (stat(None), stat(10)), (stat(None), stat(None))],
)
@pytest.mark.parametrize("metric", ["idle", "window_ns", "launches"])
def test_unknown_is_never_an_improvement(before, after, metric):
    cell = row(metric, before, after).cells[1]
    assert cell.verdict == "unknown"
    assert (cell.change, cell.relative) == (None, None)
    assert cell.value == after.median


def test_changes_are_differences_and_ratios():
    cell = row("launches", stat(3828), stat(1)).cells[1]
    assert (cell.change, cell.relative) == (-3827, pytest.approx(1 / 3828 - 1))
    from_nothing = row("launches", stat(0), stat(4)).cells[1]
    assert (from_nothing.change, from_nothing.relative) == (4, None)


def test_every_metric_states_its_threshold_and_unit():
    for metric in metrics():
        made = row(metric.name, stat(1), stat(1)) if metric.name in OF_TRACE else None
        if made:
            assert made.threshold > 0
            assert made.unit in ("count", "ns", "fraction", "bytes")


OF_TRACE = {m.name for m in metrics() if m.owner == "step"}


# Bounds from whole-graph spans -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tracing", "before", "after", "expected"),
    [
        # The candidate's idle is at least 10%: below the baseline's, it proves no improvement.
        (("none", "graph"), 0.8, 0.1, "incomparable"),
        # At least 90% where it was 80%: worse whatever the graph hides.
        (("none", "graph"), 0.8, 0.9, "worse"),
        (("none", "graph"), 0.8, 0.8, "incomparable"),
        # A baseline that is only bounded proves nothing either way.
        (("graph", "none"), 0.1, 0.8, "incomparable"),
        (("graph", "graph"), 0.1, 0.8, "incomparable"),
        (("none", "mixed"), 0.8, 0.1, "incomparable"),
        (("none", "node"), 0.8, 0.1, "better"),
    ],
)
def test_a_lower_bound_of_idle_carries_only_what_it_proves(tracing, before, after, expected):
    cell = row("idle", stat(before), stat(after), tracing=tracing).cells[1]
    assert cell.verdict == expected
    assert (cell.change is None) == (expected == "incomparable")


def test_an_upper_bound_of_busy_carries_only_what_it_proves():
    # Busy at most 50 where it was 100: better whatever; at most 200: not known to be worse.
    how = {"tracing": ("none", "graph")}
    assert verdict("busy_ns", stat(100), stat(50), **how) == "better"
    assert verdict("busy_ns", stat(100), stat(200), **how) == "incomparable"


def test_bounds_are_marked_and_explained_beside_the_row():
    made = row("idle", stat(0.8), stat(0.1), tracing=("node", "graph"))
    assert [c.bound for c in made.cells] == [None, "lower"]
    assert "not to be set against node-level tracing" in made.note
    # Only rows that spans make bounds of are named: waiting for the CPU is known all the same.
    assert row("gaps_ns.host", stat(5), stat(1), tracing=("node", "graph")).note is None
    assert row("busy_ns", stat(1), stat(1), tracing=("none", "graph")).cells[1].bound == "upper"


def test_what_tracing_does_to_a_row_is_said_where_it_holds():
    idle = {how: row("idle", stat(0.8), stat(0.1), tracing=how).note for how in (
        ("none", "node"), ("node", "node"), ("none", "none"), ("graph", "graph"),
    )}  # fmt: skip
    lengthened = "node-level tracing lengthens graphs, so captured sides idle less than shown"
    assert idle["none", "node"] == idle["node", "node"] == lengthened
    assert idle["none", "none"] is None, "no graph was traced"
    # Two sides of spans are alike: bounds, and nothing to be warned of beyond that.
    assert idle["graph", "graph"].endswith("so that this is only a bound")
    # TKLQT's holds however it was traced.
    assert "well-fed GPU" in row("tklqt_ns", stat(5), stat(1)).note


def test_node_against_graph_is_called_out():
    metrics = {"idle": stat(0.5)}
    sides = [
        SideInput(how, analysis([with_metrics(metrics, graph_tracing=how)]))
        for how in ("node", "graph")
    ]
    made = compare(sides)
    assert any("side by side" in note for note in made.notes)
    assert ("graph tracing", ("node", "graph")) in [(d.what, d.values) for d in made.differences]


def test_times_of_spans_are_no_bound():
    assert verdict("window_ns", stat(100), stat(50), tracing=("none", "graph")) == "better"


# Untraced figures --------------------------------------------------------------------------------


def timed(label, wall, *, busy=10_000, window=70_000):
    metrics = {"busy_ns": stat(busy), "window_ns": stat(window), "idle": stat(1 - busy / window)}
    facts = VariantFacts(untraced=(Untraced("prefill", wall),))
    return SideInput(label, analysis([with_metrics(metrics)]), facts=facts)


def test_inflation_and_corrected_idle_follow_the_definitions():
    made = compare([timed("a", spread(49_000, 48_000, 50_000)), timed("b", stat(20_000))])
    rows = {r.metric: r.cells for r in made.phases[0].rows}
    assert rows["untraced_ns"][0].value == 49_000
    assert rows["inflation"][0].value == pytest.approx(70 / 49 - 1)
    corrected = rows["idle_corrected"][0]
    assert corrected.value == pytest.approx(1 - 10 / 49)
    assert (corrected.ci_low, corrected.ci_high) == (
        pytest.approx(1 - 10 / 48),
        pytest.approx(1 - 10 / 50),
    )
    assert corrected.source == "untraced"
    assert not any("All times are traced" in n for n in made.remarks)


def test_work_longer_than_the_untraced_step_corrects_nothing():
    made = compare([timed("a", stat(9_000)), timed("b", stat(20_000))])
    rows = {r.metric: r.cells for r in made.phases[0].rows}
    assert rows["idle_corrected"][0].value is None
    assert rows["idle_corrected"][1].verdict == "unknown"


def test_a_column_is_of_one_trace_and_the_whole_graph_one_has_a_row_of_its_own():
    def of(window, kernels, tracing):
        metrics = {"window_ns": stat(window), "kernels": stat(kernels)}
        return analysis([group(metrics=metrics, graph_tracing=tracing)])

    eager = SideInput("eager", of(70, 3800, "none"))
    once = SideInput("once", of(14, 4000, "node"))
    twice = SideInput("twice", of(14, 4000, "node"), timing=of(13, None, "graph"))
    rows = {r.metric: r for r in compare([eager, once, twice]).phases[0].rows}
    assert [(c.value, c.source) for c in rows["window_ns"].cells] == [
        (70, "trace"), (14, "trace"), (14, "trace"),
    ]  # fmt: skip
    spans = rows["window_graph_ns"]
    assert [(c.value, c.source) for c in spans.cells] == [
        (70, "trace"), (None, "trace"), (13, "graph trace"),
    ]  # fmt: skip
    assert "from the whole-graph traces" in spans.note
    assert [c.value for c in rows["kernels"].cells] == [3800, 4000, 4000]
    made = compare([eager, once])
    assert "window_graph_ns" not in {r.metric for r in made.phases[0].rows}


@pytest.mark.parametrize("metric", ["gaps_ns.device", "gaps_ns.host", "lead_in_ns", "kernels"])
def test_a_part_of_idle_and_the_number_of_kernels_get_no_verdict(metric):
    cell = row(metric, stat(100), stat(900)).cells[1]
    assert (cell.verdict, cell.change) == ("neutral", 800)


def test_a_change_whose_sign_a_bound_leaves_open_is_none():
    """At least 4 kernels where there were 5 may be more or fewer; at least 7 are more."""

    def after(median):
        lost = with_metrics({})
        lost = replace(lost, metrics={"kernels": replace(stat(median), bound="lower")})
        sides = [SideInput("a", analysis([with_metrics({"kernels": stat(5)})]))]
        rows = compare([*sides, SideInput("b", analysis([lost]))]).phases[0].rows
        return next(r for r in rows if r.metric == "kernels").cells[1]

    cell = after(4)
    assert (cell.value, cell.bound, cell.change, cell.change_bound) == (4, "lower", None, None)
    cell = after(7)
    assert (cell.change, cell.change_bound) == (2, "lower")


def kernel(name, count, total_ns, bound=None):
    return KernelRow(name, count, total_ns, None, None, total_bound=bound)


def test_kernels_that_came_and_went_cost_their_time():
    """Five steps a side: one came twice a step at 3 each, one of four went, one runs thrice."""
    before = (kernel("gone", 5, 50), kernel("more", 10, 100), kernel("same", 5, 1000))
    after = (kernel("came", 10, 30), kernel("more", 15, 300), kernel("same", 5, 2000))
    sides = [SideInput(str(i), analysis([group(kernels=k)])) for i, k in enumerate((before, after))]
    (changes,) = compare(sides).phases[0].kernels
    # Per step: + 2 x 3 - 1 x 10 + 1 x 20; what merely became slower is no kernel that came.
    assert (changes.count_change, changes.time_change_ns, changes.time_bound) == (2, 16, None)
    after = (kernel("came", 10, 30, "lower"), *after[1:])
    sides[1] = SideInput("1", analysis([group(kernels=after)]))
    (changes,) = compare(sides).phases[0].kernels
    assert (changes.time_change_ns, changes.time_bound) == (16, "lower")
    assert changes.added[0].candidate_bound == "lower"


def test_without_untraced_times_the_reader_is_warned():
    made = compare([SideInput("a", analysis()), SideInput("b", analysis())])
    assert any("All times are traced" in note for note in made.remarks)


def test_interval_of_the_difference_joins_both_sides():
    """Zou and Donner: the distances of the far ends add in squares."""
    before, after = spread(1000, 970, 1030), spread(900, 860, 940)
    half = math.hypot(40, 30)
    metric = by_name()["window_ns"]
    assert judge(metric, before, after, 100 - half - 1e-9) == "better"
    assert judge(metric, before, after, 100 - half + 1e-9) == "inconclusive"


# Sides -------------------------------------------------------------------------------------------


def test_a_comparison_needs_two_sides():
    with pytest.raises(UsageError, match="at least one candidate"):
        compare([SideInput("a", analysis())])


def test_a_variant_that_failed_is_unknown_and_says_why():
    failure = Failure("RuntimeError", "cannot copy while capturing", "model.py:7", "hint")
    sides = [
        SideInput("eager", analysis()),
        SideInput("captured", None, facts=VariantFacts(failure=failure)),
    ]
    made = compare(sides)
    (phase,) = made.phases
    assert {r.cells[1].verdict for r in phase.rows} == {"unknown"}
    assert (phase.steps, phase.bound) == ((5, 0), ("launch-bound", None))
    said = "captured: could not be captured at model.py:7: cannot copy while capturing. hint"
    assert comparison_sentences(made) == (f"eager → {said}",)
    assert (phase.kernels[0].known, phase.kernels[0].reason) == (
        False,
        "one side has no such steps",
    )


def test_a_side_with_missing_graph_work_says_why():
    broken = with_metrics({"idle": stat(None)}, unknown_reason="graphs are not in the trace")
    made = compare([SideInput("a", analysis()), SideInput("b", analysis([broken]))])
    assert "b: some figures are unknown: graphs are not in the trace" in made.notes
