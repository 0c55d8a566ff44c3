"""A comparison from a file keeps its values; changes and verdicts are worked out from them."""

from __future__ import annotations

import lzma
from dataclasses import replace
from pathlib import Path

import html_records as records
import pytest

from launchlens.catalogue import by_name
from launchlens.comparison import recompute
from launchlens.errors import LaunchlensError
from launchlens.records.figures import Stat
from launchlens.records.variant import Untraced
from launchlens.serialize import from_json

OLD = Path(__file__).parents[1] / "old_reports"


def with_row(comparison, metric, change):
    """The comparison with one row of its first phase changed."""
    first, *others = comparison.phases
    rows = tuple(change(row) if row.metric == metric else row for row in first.rows)
    return replace(comparison, phases=(replace(first, rows=rows), *others))


def row_of(comparison, metric):
    return next(row for row in comparison.phases[0].rows if row.metric == metric)


@pytest.fixture
def honest():
    text = lzma.decompress((OLD / "diff-qwen3-0.6b.json.xz").read_bytes()).decode()
    return from_json(text, named="a report")


@pytest.mark.parametrize("name", ["diff-qwen3-0.6b", "diff-failed"])
def test_what_is_true_stays_as_it_is(name):
    text = lzma.decompress((OLD / f"{name}.json.xz").read_bytes()).decode()
    comparison = from_json(text, named="a report")
    again = recompute(comparison, named="a report")
    assert again.sides == comparison.sides
    for phase, before in zip(again.phases, comparison.phases, strict=True):
        for row, old in zip(phase.rows, before.rows, strict=True):
            assert row.title == by_name()[row.metric].title  # that of today's catalogue
            # The old report judges what is a part of idle, and calls incomparable inconclusive.
            for cell, was in zip(row.cells, old.cells, strict=True):
                known = ("value", "ci_low", "ci_high", "n", "source", "note", "failed", "bound")
                for field in known:
                    assert getattr(cell, field) == getattr(was, field)
                if by_name()[row.metric].judged and cell.verdict != "incomparable":
                    assert (cell.change, cell.relative) == (was.change, was.relative)
                    assert cell.verdict == was.verdict
                elif cell.verdict == "incomparable":
                    assert was.verdict == "inconclusive"


def test_a_forged_change_and_verdict_are_replaced(honest):
    def forge(row):
        base, candidate = row.cells
        return replace(
            row,
            direction=1,
            threshold=1e9,
            title="everything is fine",
            cells=(
                replace(base, value=100, ci_low=100, ci_high=100, verdict="better"),
                replace(
                    candidate, value=300, ci_low=300, ci_high=300, change=-99.0, relative=-0.99,
                    verdict="better",
                ),
            ),
        )  # fmt: skip

    row = row_of(recompute(with_row(honest, "launches", forge), named="x"), "launches")
    assert [cell.value for cell in row.cells] == [100, 300]
    assert (row.cells[1].change, row.cells[1].relative, row.cells[1].verdict) == (200, 2.0, "worse")
    assert (row.cells[0].verdict, row.direction, row.threshold) == ("neutral", -1, 0.5)
    assert row.title == "launches per step"


def test_an_unknown_value_has_no_change_whatever_the_file_says(honest):
    def forge(row):
        base, candidate = row.cells
        return replace(row, cells=(replace(base, value=None), replace(candidate, change=-5.0)))

    cell = row_of(recompute(with_row(honest, "launches", forge), named="x"), "launches").cells[1]
    assert (cell.change, cell.relative, cell.verdict) == (None, None, "unknown")


def bounded(row, base, candidate, bounds):
    """A row of fractions, in which each side's interval is a point."""
    return replace(
        row,
        cells=tuple(
            replace(cell, value=v, ci_low=v, ci_high=v, bound=b)
            for cell, v, b in zip(row.cells, (base, candidate), bounds, strict=True)
        ),
    )


@pytest.mark.parametrize(
    ("base", "candidate", "bounds", "verdict"),
    [
        (0.5, 0.2, (None, None), "better"),
        (0.5, 0.2, (None, "lower"), "incomparable"),  # may be anything above 20%
        (0.5, 0.8, (None, "lower"), "worse"),
        (0.5, 0.2, (None, "upper"), "better"),
        (0.5, 0.8, (None, "upper"), "incomparable"),
        (0.5, 0.5, (None, "lower"), "incomparable"),
        (0.5, 0.2, ("lower", None), "better"),  # of a baseline that may have been longer idle
        (0.5, 0.8, ("lower", None), "incomparable"),
        (0.5, 0.2, ("lower", "lower"), "incomparable"),
    ],
)
def test_a_bound_gives_no_verdict_that_the_unknown_part_could_turn(
    honest, base, candidate, bounds, verdict
):
    made = with_row(honest, "idle", lambda row: bounded(row, base, candidate, bounds))
    row = row_of(recompute(made, named="x"), "idle")
    assert row.cells[1].verdict == verdict
    assert tuple(cell.bound for cell in row.cells) == bounds


@pytest.mark.parametrize(
    ("processes", "verdict"), [((), "inconclusive"), ((1, 2, 3), "better")], ids=["one", "several"]
)
def test_one_process_a_side_proves_no_small_untraced_change(processes, verdict):
    comparison = records.comparison()
    phase = comparison.phases[0].phase

    def timed(side, ns):
        wall = Stat(ns, None, None, None, ns, ns, 20)
        facts = replace(side.facts, untraced=(Untraced(phase, wall, processes_ns=processes),))
        return replace(side, facts=facts)

    def faster(row):  # by 7%, as processes differ by themselves
        values = (10**9, *[93 * 10**7] * (len(row.cells) - 1))
        cells = zip(row.cells, values, strict=True)
        return replace(row, cells=tuple(replace(c, value=v, ci_low=v, ci_high=v) for c, v in cells))

    made = replace(
        with_row(comparison, "untraced_ns", faster),
        baseline=timed(comparison.baseline, 10**9),
        candidates=tuple(timed(side, 93 * 10**7) for side in comparison.candidates),
    )
    cells = row_of(recompute(made, named="x"), "untraced_ns").cells
    assert cells[1].verdict == verdict


def test_values_without_a_side_are_refused(honest):
    def cut(row):
        return replace(row, cells=row.cells[:1])

    with pytest.raises(LaunchlensError, match="row launches has 1 values for 2 sides"):
        recompute(with_row(honest, "launches", cut), named="x.json")


def test_histograms_of_other_classes_are_refused(honest):
    other = replace(honest.candidates[0], gap_histogram=honest.baseline.gap_histogram[:2])
    with pytest.raises(LaunchlensError, match="different classes"):
        recompute(replace(honest, candidates=(other,)), named="x.json")


def test_a_change_from_next_to_nothing_is_no_ratio(honest):
    made = with_row(honest, "idle", lambda row: bounded(row, 5e-324, 1.0, (None, None)))
    cell = row_of(recompute(made, named="x"), "idle").cells[1]
    assert (cell.change, cell.relative) == (1.0, None)
