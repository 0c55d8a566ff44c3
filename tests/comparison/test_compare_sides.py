"""Pairing of sides: labels, phases, processes, kernels on one side only, what differs."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest
from handmade import analysis, group, stat

from launchlens.catalogue import metrics
from launchlens.comparison import compare
from launchlens.comparison.figures import SIDE_FIGURES
from launchlens.metrics import summarize
from launchlens.records.comparison import SideInput
from launchlens.records.figures import KernelRow
from launchlens.records.variant import VariantFacts
from launchlens.trace import read_trace

TRACES = Path(__file__).parents[2] / "traces"


def labels(*given):
    made = compare([SideInput(label, analysis()) for label in given])
    return [s.label for s in made.sides], [s.short for s in made.sides]


@pytest.mark.parametrize(
    ("given", "full", "short"),
    [
        (
            ("gemma-4-e4b-eager", "gemma-4-e4b-cudagraph"),
            ["gemma-4-e4b-eager", "gemma-4-e4b-cudagraph"],
            ["eager", "cudagraph"],
        ),
        (("eager", "captured"), ["eager", "captured"], ["eager", "captured"]),
        (("t", "t"), ["t (1)", "t (2)"], ["t (1)", "t (2)"]),
        (("a-x", "a-x", "a-y"), ["a-x (1)", "a-x (2)", "a-y"], ["x (1)", "x (2)", "y"]),
        (("a", "a-b"), ["a", "a-b"], ["a", "a-b"]),
    ],
)
def test_labels_are_distinct_and_short(given, full, short):
    assert labels(*given) == (full, short)


def two(before, after, **facts):
    return compare([SideInput("a", before), SideInput("b", after)], **facts)


def test_phases_are_compared_with_their_like():
    both = analysis(
        [group("prefill"), group("decode", metrics={"launches": stat(9), "kernels": stat(9)})]
    )
    made = two(both, both)
    assert [p.phase for p in made.phases] == ["prefill", "decode"]
    assert made.phases[1].rows[0].cells[0].value == 9


def test_a_phase_of_one_side_only_is_unknown_on_the_other():
    made = two(analysis([group("prefill")]), analysis([group("prefill"), group("decode")]))
    decode = made.phases[1]
    assert (decode.phase, decode.steps) == ("decode", (0, 5))
    assert decode.groups[0] == "-"
    assert {r.cells[1].verdict for r in decode.rows} <= {"unknown", "neutral"}


def test_ranks_are_paired_in_order():
    def rank(pid, device):
        metrics = {"launches": stat(10 * pid + device), "kernels": stat(1)}
        return group(pid=pid, device=device, metrics=metrics)

    ranks = [rank(pid, device) for pid in (1, 2) for device in (0, 1)]
    made = two(analysis(ranks), analysis(ranks))
    assert [p.rows[0].cells[1].value for p in made.phases] == [10, 11, 20, 21]
    assert made.phases[3].groups == ("process 2, device 1", "process 2, device 1")


def test_steps_that_were_dropped_are_reported():
    made = two(analysis([group(steps=4, dropped=2)]), analysis([group(steps=5, dropped=0)]))
    assert (made.phases[0].steps, made.phases[0].dropped) == ((4, 5), (2, 0))


def kernels(**counts):
    rows = tuple(KernelRow(name, n, n * 10, 10, 0.5) for name, n in counts.items())
    return group(kernels=rows, metrics={"kernels": stat(sum(counts.values()) / 5)}, steps=5)


def test_kernels_of_one_side_only_are_listed_per_step():
    made = two(
        analysis([kernels(gemm=50, copy=5, gone=10)]), analysis([kernels(gemm=50, copy=10, new=5)])
    )
    (changes,) = made.phases[0].kernels

    def listed(diffs):
        return [(d.name, d.baseline_count, d.candidate_count, d.baseline_ns, d.candidate_ns)
                for d in diffs]  # fmt: skip

    assert changes.known
    assert listed(changes.added) == [("new", 0, 1, 0, 10)]
    assert listed(changes.removed) == [("gone", 2, 0, 20, 0)]
    assert listed(changes.changed) == [("copy", 1, 2, 10, 20)]


def test_kernels_are_unknown_where_spans_hide_them():
    hidden = group(metrics={"kernels": stat(None)}, unknown_reason="whole spans")
    (changes,) = two(analysis([kernels(gemm=5)]), analysis([hidden])).phases[0].kernels
    assert (changes.known, changes.reason, changes.added) == (False, "whole spans", ())


def differing(first: dict, second: dict):
    sides = []
    for label, changes in (("a", first), ("b", second)):
        made = analysis([replace(group(), **changes.get("group", {}))])
        trace = replace(made.trace, **changes.get("trace", {}))
        facts = VariantFacts(**changes.get("facts", {}))
        sides.append(SideInput(label, replace(made, trace=trace), facts=facts))
    return {d.what: (d.values, d.serious) for d in compare(sides).differences}


def test_what_makes_a_comparison_unfair_is_listed():
    found = differing(
        {"trace": {"gpu": "NVIDIA H200"}, "facts": {"isl": 25, "dtype": "bfloat16"}},
        {"trace": {"gpu": "NVIDIA L4"}, "facts": {"isl": 512, "dtype": "bfloat16"}},
    )
    assert found == {
        "GPU": (("NVIDIA H200", "NVIDIA L4"), True),
        "ISL": (("25", "512"), True),
    }


def test_what_is_unknown_on_a_side_is_no_difference():
    assert differing({"trace": {"gpu": None}}, {}) == {}


def test_small_print_differs_without_being_unfair():
    found = differing(
        {"trace": {"nsys_version": "2025.3"}, "group": {"steps": 5}},
        {"trace": {"nsys_version": "2026.1"}, "group": {"steps": 8}},
    )
    assert found == {"nsys": (("2025.3", "2026.1"), False), "steps": (("5", "8"), False)}


def test_an_unlike_number_of_ranks_is_unfair():
    made = two(analysis([group(), group(pid=2)]), analysis([group()]))
    assert ("processes and devices", ("2", "1"), True) in [
        (d.what, d.values, d.serious) for d in made.differences
    ]


def test_the_shipped_traces_give_the_known_answer():
    """Medians of traces/expected.json, by hand: eager 71,997 µs and captured 14,264 µs."""
    import json
    import statistics

    expected = json.loads((TRACES / "expected.json").read_text())
    names = [
        "gemma-4-e4b-eager.nsys2025.3.sqlite.xz",
        "gemma-4-e4b-cudagraph.node.nsys2025.3.sqlite.xz",
    ]
    read = [summarize(read_trace(TRACES / name)) for name in names]
    made = compare([SideInput(a.trace.label, a) for a in read])
    (phase,) = made.phases
    rows = {r.metric: r for r in phase.rows}
    for metric in ("kernel_launches", "graph_launches", "kernels", "window_ns", "busy_ns", "idle"):
        medians = [statistics.median(s[metric] for s in expected[name]) for name in names]
        found = [c.value for c in rows[metric].cells]
        assert found == pytest.approx(medians, rel=1e-6), metric
    verdicts = {m: rows[m].cells[1].verdict for m in ("launches", "idle", "window_ns", "kernels")}
    assert verdicts == {
        "launches": "better", "idle": "better", "window_ns": "better", "kernels": "neutral",
    }  # fmt: skip
    (changes,) = phase.kernels
    assert changes.known
    added = sum(d.candidate_count - d.baseline_count for d in changes.added + changes.changed)
    removed = sum(d.baseline_count for d in changes.removed)
    assert added - removed == pytest.approx(4071 - 3828)


def test_every_metric_of_a_side_is_computed_or_a_fact():
    computed = {m.name for m in metrics() if m.owner == "side"} - {
        f.name for f in fields(VariantFacts)
    }
    assert computed == set(SIDE_FIGURES)
