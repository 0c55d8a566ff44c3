"""Which side is the fastest, and when that is not said."""

from __future__ import annotations

from dataclasses import replace

import handmade
import html_records as records

from launchlens.report.about import about_comparison
from launchlens.report.ranking import fastest, ranked


def with_times(**times):
    """Three sides with these step times by metric, in ns; eager is the first."""
    made = records.comparison()
    phase = made.phases[0]
    rows = tuple(
        replace(
            row,
            cells=tuple(
                replace(cell, value=value)
                for cell, value in zip(row.cells, times[row.metric], strict=True)
            ),
        )
        if row.metric in times
        else row
        for row in phase.rows
    )
    return replace(made, phases=(replace(phase, rows=rows),))


def order(made):
    return ranked(made, made.phases[0])


def test_sides_are_ranked_by_untraced_times_where_all_have_them():
    made = with_times(untraced_ns=[30, 20, 10], window_ns=[300, 100, 200])
    assert order(made) == [2, 1, 0]
    assert fastest(made) == 2


def test_where_one_lacks_an_untraced_time_all_are_ranked_by_traced_ones():
    made = with_times(untraced_ns=[30, 20, None], window_ns=[300, 200, 100])
    assert order(made) == [2, 1, 0]


def test_what_failed_needs_no_time_and_comes_last():
    made = with_times(untraced_ns=[30, None, 10], window_ns=[1, 2, 3])
    failed = replace(made.candidates[0], facts=replace(made.candidates[0].facts, failure=FAILURE))
    made = replace(made, candidates=(failed, made.candidates[1]))
    assert order(made) == [2, 0, 1]
    assert fastest(made) == 2


def test_a_baseline_that_is_fastest_and_unknown_times_have_no_fastest_candidate():
    assert fastest(with_times(untraced_ns=[10, 20, 30])) is None
    assert fastest(with_times(untraced_ns=[None] * 3, window_ns=[None] * 3)) is None
    assert fastest(with_times(untraced_ns=[None] * 3, window_ns=[None, 5, 6])) is None


def test_what_was_run_stands_once_where_all_sides_ran_it():
    made = records.comparison(candidates=1)
    facts = replace(made.candidates[0].facts, dtype="float16", batch=None)
    made = replace(made, candidates=(replace(made.candidates[0], facts=facts),))
    assert about_comparison(made) == (
        "gemma-4-e4b",
        "ISL 25",
        "batch 1",
        "bfloat16 / float16",
        "NVIDIA H200",
    )


FAILURE = handmade.failed_candidate(handmade.comparison()).candidates[0].facts.failure
