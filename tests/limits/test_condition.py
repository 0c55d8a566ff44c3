"""Thresholds of --fail-on: what is accepted, what fails, what is unknown."""

from __future__ import annotations

from dataclasses import replace

import handmade
import pytest

from launchlens.errors import UsageError
from launchlens.limits import check_analysis, check_comparison, parse_condition


@pytest.mark.parametrize(
    ("text", "metric", "sign", "measure", "limit"),
    [
        ("launches>+0", "launches", ">", "change", 0),
        ("launches > 1000", "launches", ">", "value", 1000),
        ("launches>=+5%", "launches", ">=", "relative", 0.05),
        ("idle>+2pp", "idle", ">", "change", 0.02),
        ("idle>50%", "idle", ">", "value", 0.5),
        ("idle>-3pp", "idle", ">", "change", -0.03),
        ("window_ns>+5%", "window_ns", ">", "relative", 0.05),
        ("window_ns>15ms", "window_ns", ">", "value", 15_000_000),
        ("window_ns>+1.5us", "window_ns", ">", "change", 1500),
        ("peak_memory_bytes>+1GiB", "peak_memory_bytes", ">", "change", 2**30),
        ("requests_per_s<-5%", "requests_per_s", "<", "relative", -0.05),
        ("blockers", "blockers", ">", "value", 0),
        ("blockers>+0", "blockers", ">", "change", 0),
        ("blockers>6", "blockers", ">", "value", 6),
        ("gaps_ns.host>+5%", "gaps_ns.host", ">", "relative", 0.05),
    ],
)
def test_accepted_forms(text, metric, sign, measure, limit):
    parsed = parse_condition(text)
    assert (parsed.metric, parsed.fails, parsed.measure) == (metric, sign, measure)
    assert parsed.number == pytest.approx(limit)


def test_phase_and_confidence_are_read():
    assert parse_condition("decode:launches>+0").phase == "decode"
    assert parse_condition("launches>+0").phase is None
    assert parse_condition("blockers:suspected").confidence == "suspected"
    assert parse_condition("blockers:confirmed>+0").confidence == "confirmed"


@pytest.mark.parametrize(
    "text",
    ["", "launches", "launches>", "launches=5", "launches>+", "launches>5 apples", ">5",
     "Launches>5", "launches>+1e3x", "blockers:maybe", "later:launches>+0", "launches>>5",
     "launches>1;DROP"],
)  # fmt: skip
def test_bad_syntax_names_the_accepted_forms(text):
    with pytest.raises(UsageError) as caught:
        parse_condition(text)
    assert "launches>+0" in str(caught.value)
    assert "idle>+2pp" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("idle>+2%", "percentage points"),
        ("launches>+2pp", "fraction"),
        ("idle>2pp", "pp"),
        ("launches>50%", "sign"),
        ("launches>+5ms", "unit"),
    ],
)
def test_a_unit_that_does_not_fit_is_refused(text, said):
    with pytest.raises(UsageError, match=said):
        parse_condition(text)


def status(text, made=None):
    results = check_comparison([parse_condition(text)], made or handmade.comparison())
    return [r.status for r in results]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("launches>+0", "held"),  # 3828 -> 1
        ("launches>0", "failed"),
        ("launches>-3827", "held"),
        ("launches>-3828", "failed"),  # asked to fall by more
        ("kernels>+0", "failed"),  # 3841 -> 3846
        ("kernels>+5", "held"),
        ("kernels>=+5", "failed"),
        ("kernels>+0.2%", "held"),
        ("idle>+0pp", "held"),
        ("idle>17.5%", "failed"),
        ("window_ns<-70%", "failed"),  # it fell by 79.8%
        ("sync_calls>+0%", "held"),
        ("prefill:launches>+0", "held"),
        ("ttft_ns>+5%", "held"),
    ],
)
def test_candidate_is_judged(text, expected):
    assert set(status(text)) == {expected}


def test_values_stand_in_the_result():
    (result,) = check_comparison([parse_condition("kernels>+2")], handmade.comparison())
    assert (result.value, result.baseline, result.measured, result.bound) == (3846, 3841, 5, 2)
    assert result.where == "gemma-4-e4b-cudagraph, prefill"
    assert not result.passed


def test_unknown_does_not_pass_and_says_why():
    made = handmade.comparison([handmade.row("idle", 0.8, None)])
    (result,) = check_comparison([parse_condition("idle>+2pp")], made)
    assert result.status == "unknown"
    assert not result.passed
    assert result.reason == "graph work is missing from the trace"


def test_unknown_baseline_says_so():
    made = handmade.comparison([handmade.row("launches", None, 5)])
    made_row = made.phases[0].rows[0]
    cells = (replace(made_row.cells[0], note="no API table"), replace(made_row.cells[1], note=None))
    phase = replace(made.phases[0], rows=(replace(made_row, cells=cells),))
    (result,) = check_comparison([parse_condition("launches>+0")], replace(made, phases=(phase,)))
    assert result.status == "unknown"
    assert "baseline" in result.reason
    assert "no API table" in result.reason


def test_growth_from_zero_is_beyond_any_per_cent():
    made = handmade.comparison([handmade.row("sync_calls", 0, 3)])
    assert status("sync_calls>+500%", made) == ["failed"]
    made = handmade.comparison([handmade.row("sync_calls", 0, 0)])
    assert status("sync_calls>+0%", made) == ["held"]


def test_every_candidate_is_checked():
    made = handmade.comparison()
    second = replace(made.candidates[0], label="breakable")
    rows = tuple(
        replace(r, cells=(*r.cells, replace(r.cells[1], value=4000, change=172)))
        for r in made.phases[0].rows
        if r.metric == "launches"
    )
    both = replace(
        made,
        candidates=(*made.candidates, second),
        phases=(replace(made.phases[0], rows=rows),),
    )
    assert status("launches>+0", both) == ["held", "failed"]


def test_no_steps_at_all_is_unknown_for_each_candidate():
    assert status("launches>+0", handmade.comparison(())) == ["unknown"]
    assert status("decode:launches>+0") == ["unknown"]


def test_a_metric_that_is_not_there_is_a_usage_error_with_the_nearest_name():
    with pytest.raises(UsageError, match="launches"):
        status("lunches>+0")


def test_request_figures_are_matched_by_load():
    results = check_comparison([parse_condition("ttft_ns>+5%")], handmade.comparison())
    assert [r.where.split(", ", 1)[1] for r in results] == [
        "ISL 25, OSL 5, concurrency 1",
        "ISL 25, OSL 5, concurrency 4",
    ]
    assert results[0].measured == pytest.approx(14.5 / 48.3 - 1)


def test_requests_never_measured_are_unknown():
    made = handmade.comparison()
    side = made.candidates[0]
    bare = replace(side, facts=replace(side.facts, requests=()))
    assert status("ttft_ns>+5%", replace(made, candidates=(bare,))) == ["unknown"]


def test_blockers_count_calls_in_each_step_from_likely_on():
    made = handmade.comparison()
    findings = (
        handmade.finding(count=6),
        handmade.finding("dtoh-sync", "suspected", 2),
        handmade.finding("dtoh-sync", "cleared", 2),
        handmade.finding("explicit-sync", "confirmed", 0.5),
    )
    made = replace(made, candidates=(replace(made.candidates[0], findings=findings),))
    (result,) = check_comparison([parse_condition("blockers")], made)
    assert (result.status, result.value) == ("failed", 6.5)
    assert result.reason == "pageable-htod × 6, explicit-sync × 0.5"
    assert status("blockers:confirmed>0.5", made) == ["held"]
    assert status("blockers:suspected>8", made) == ["failed"]
    assert status("blockers>+0", made) == ["failed"]


def test_blockers_of_a_side_without_trace_are_unknown():
    made = handmade.failed_candidate(handmade.comparison())
    assert status("blockers", made) == ["unknown"]


def test_one_trace_is_held_against_values():
    made = handmade.analysis(findings=[handmade.finding()])
    texts = ["launches>1000", "idle<0.9", "window_ns>100ms", "blockers"]
    results = check_analysis([parse_condition(t) for t in texts], made)
    assert [r.status for r in results] == ["failed", "failed", "held", "failed"]


def test_one_trace_has_no_changes():
    with pytest.raises(UsageError, match="baseline"):
        check_analysis([parse_condition("launches>+0")], handmade.analysis())


def test_one_trace_with_an_unknown_figure_says_why():
    unknown = handmade.group(
        metrics={"idle": handmade.stat(None, 0, 5)}, unknown_reason="graph work is missing"
    )
    (result,) = check_analysis([parse_condition("idle>50%")], handmade.analysis([unknown]))
    assert (result.status, result.reason) == ("unknown", "graph work is missing")


def test_a_lower_bound_of_idle_proves_no_limit():
    row = handmade.row("idle", 0.5, 0.4)
    row = replace(row, cells=(row.cells[0], replace(row.cells[1], bound="lower")))
    made = handmade.comparison([row])
    (result,) = check_comparison([parse_condition("idle>+2pp")], made)
    assert (result.status, "bound" in result.reason) == ("unknown", True)
    assert status("idle>45%", made) == ["unknown"]
    assert status("idle>30%", made) == ["failed"]  # it is at least 40%
    assert status("idle<30%", made) == ["held"]
    # The baseline idles at least that much, so the true change is no larger.
    row = replace(row, cells=(replace(row.cells[0], bound="lower"), handmade.ROWS[2].cells[1]))
    assert status("idle>+2pp", handmade.comparison([row])) == ["held"]


def test_one_trace_of_whole_graphs_proves_no_idle():
    made = handmade.analysis([handmade.group(graph_tracing="graph")])
    (result,) = check_analysis([parse_condition("idle>90%")], made)
    assert result.status == "unknown"
