"""Budgets: what a file may hold, what it is held against, what a failure says."""

from __future__ import annotations

from dataclasses import replace

import handmade
import pytest

from launchlens.errors import UsageError
from launchlens.limits.budget import check_budget, read_budget
from launchlens.records.figures import ApiRow, KernelRow
from launchlens.records.variant import Untraced, VariantFacts


def budget(tmp_path, text):
    path = tmp_path / "launchlens.toml"
    path.write_text(text, encoding="utf-8")
    return read_budget(path)


EXAMPLE = """
[models."gemma-4-*"]
blockers = 0
peak_memory_bytes = "20GiB"
[models."gemma-4-*".prefill]
launches = 4000
idle = "85%"
window_ns = "50ms"
kernels = { min = 3000, max = 4000 }
[models.other]
launches = 1
"""


def test_limits_are_read_with_their_units(tmp_path):
    read = budget(tmp_path, EXAMPLE)
    assert read.patterns == ("gemma-4-*", "other")
    assert [(i.phase, i.metric, i.fails, i.number) for i in read.limits] == [
        (None, "blockers", ">", 0),
        (None, "peak_memory_bytes", ">", 20 * 2**30),
        ("prefill", "launches", ">", 4000),
        ("prefill", "idle", ">", 0.85),
        ("prefill", "window_ns", ">", 50_000_000),
        ("prefill", "kernels", ">", 4000),
        ("prefill", "kernels", "<", 3000),
        (None, "launches", ">", 1),
    ]


def test_a_trace_is_held_against_the_limits_for_it(tmp_path):
    read = budget(tmp_path, EXAMPLE)
    results = check_budget(read, handmade.analysis())
    assert {r.limit.split(": ", 1)[1]: r.status for r in results} == {
        "blockers <= 0": "held",
        "peak_memory_bytes <= 20GiB": "unknown",
        "prefill launches <= 4000": "held",
        "prefill idle <= 85%": "held",
        "prefill window_ns <= 50ms": "failed",
        "prefill kernels <= 4000": "held",
        "prefill kernels >= 3000": "held",
    }
    (failed,) = [r for r in results if r.status == "failed"]
    assert (failed.value, failed.bound, failed.unit) == (70_800_000, 50_000_000, "ns")
    assert failed.where == "gemma-4-e4b-eager, prefill, process 1, device 0"


def test_figures_of_a_run_come_from_its_facts(tmp_path):
    text = '[models.m]\npeak_memory_bytes = "1GiB"\nprefill.untraced_ns = "40ms"'
    facts = VariantFacts(
        model="M",
        peak_memory_bytes=2**29,
        untraced=(Untraced("prefill", handmade.stat(49_100_000)),),
    )
    results = check_budget(budget(tmp_path, text), handmade.analysis(), facts=facts)
    assert [r.status for r in results] == ["held", "failed"]


def test_model_name_finds_the_limits(tmp_path):
    read = budget(tmp_path, "[models.other]\nlaunches = 1")
    (result,) = check_budget(read, handmade.analysis(), model="Other")
    assert result.status == "failed"


def test_unknown_figures_do_not_pass(tmp_path):
    unknown = handmade.group(
        metrics={"idle": handmade.stat(None, 0, 5)}, unknown_reason="graph work is missing"
    )
    read = budget(tmp_path, '[models."*"]\nprefill.idle = 0.5\ndecode.idle = 0.5')
    results = check_budget(read, handmade.analysis([unknown]))
    assert [(r.status, r.reason) for r in results] == [
        ("unknown", "graph work is missing"),
        ("unknown", "there are no decode steps"),
    ]
    assert not any(r.passed for r in results)


def test_every_process_is_held(tmp_path):
    groups = [handmade.group(pid=1), handmade.group(pid=2, metrics={"launches": handmade.stat(9)})]
    read = budget(tmp_path, '[models."*"]\nlaunches = 100')
    results = check_budget(read, handmade.analysis(groups))
    assert [(r.value, r.status) for r in results] == [(3828, "failed"), (9, "held")]


def test_blockers_by_confidence(tmp_path):
    found = [handmade.finding(count=6), handmade.finding("dtoh-sync", "suspected", 2)]
    made = handmade.analysis(findings=found)

    def value(text):
        (result,) = check_budget(budget(tmp_path, f'[models."*"]\n{text}'), made)
        return result.value, result.status, result.reason

    assert value("blockers = 0") == (6, "failed", "pageable-htod × 6")
    assert value('blockers = { max = 8, confidence = "suspected" }') == (8, "held", None)
    assert value('blockers = { max = 0, confidence = "confirmed" }') == (0, "held", None)


API = (ApiRow("cudaLaunchKernel", 3700 * 5, 1, 1), ApiRow("cuLaunchKernelEx", 128 * 5, 1, 1),
       ApiRow("cudaMemcpyAsync", 20, 1, 1))  # fmt: skip


def test_a_failure_says_what_the_figure_is_made_of(tmp_path):
    made = handmade.analysis([handmade.group(api_calls=API)])
    read = budget(tmp_path, '[models."*"]\nlaunches = 1')
    (result,) = check_budget(read, made)
    assert result.reason == "cudaLaunchKernel 3700, cuLaunchKernelEx 128 per step"


def test_a_failure_says_what_changed_against_a_baseline(tmp_path):
    before = handmade.analysis([handmade.group(api_calls=API)])
    more = (replace(API[0], count=3710 * 5), *API[1:])
    after = handmade.analysis(
        [handmade.group(metrics={"launches": handmade.stat(3838)}, api_calls=more, pid=77)]
    )
    read = budget(tmp_path, '[models."*"]\nlaunches = 3828')
    (result,) = check_budget(read, after, baseline=before)
    assert (result.baseline, result.value) == (3828, 3838)
    assert result.reason == "changed, per step: cudaLaunchKernel +10"


def test_changed_kernels_are_named_and_long_names_shortened(tmp_path):
    def group(kernels, median):
        rows = tuple(KernelRow(name, n * 5, 1, 1, 0.1) for name, n in kernels.items())
        return handmade.group(metrics={"kernels": handmade.stat(median)}, kernels=rows)

    before = handmade.analysis([group({"gemm": 3, "mask": 2}, 5)])
    after = handmade.analysis([group({"gemm": 4, "x\n" * 3000: 9}, 13)])
    (result,) = check_budget(budget(tmp_path, '[models."*"]\nkernels = 5'), after, baseline=before)
    assert "mask −2" in result.reason
    assert "gemm +1" in result.reason
    assert "\n" not in result.reason
    assert len(result.reason) < 300


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no limits"),
        ("x = ", "no valid TOML"),
        ("[model.a]\nlaunches = 1", "model is unknown"),
        ("[models]\na = 1", "no table"),
        ("[models.a]", "no limits"),
        ("[models.a]\nlaunches = true", "launches is True"),
        ("[models.a]\nlaunches = []", r"launches is \[\]"),
        ("[models.a]\nlaunches = { most = 1 }", "min"),
        ('[models.a]\nlaunches = "5ms"', "not measured in that unit"),
        ('[models.a]\nwindow_ns = "5 apples"', "apples"),
        ("[models.a]\nidle = 30", "fraction"),
        ('[models.a]\nblockers = { max = 0, confidence = "sure" }', "sure"),
        ("[models.a.prefill]\nblockers = 0", "whole trace"),
        ("[models.a.prefil]\nlaunches = 0", "neither a phase nor a limit. Did you mean prefill"),
    ],
)
def test_a_file_that_makes_no_sense_names_the_place(tmp_path, text, said):
    with pytest.raises(UsageError, match=said):
        budget(tmp_path, text)


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_budget(tmp_path / "none.toml")


def test_a_trace_without_limits_never_passes_silently(tmp_path):
    read = budget(tmp_path, "[models.other]\nlaunches = 1")
    with pytest.raises(UsageError, match="no limits for gemma-4-e4b-eager"):
        check_budget(read, handmade.analysis())


def test_a_metric_that_is_not_there_offers_the_nearest(tmp_path):
    with pytest.raises(UsageError, match=r"no such metric. Did you mean launches\?"):
        budget(tmp_path, '[models."*"]\nlunches = 1')


def test_a_lower_bound_of_idle_proves_no_limit(tmp_path):
    made = handmade.analysis([handmade.group(graph_tracing="graph")])
    read = budget(tmp_path, '[models."*"]\nidle = { max = 0.9, min = 0.1 }')
    assert [r.status for r in check_budget(read, made)] == ["unknown", "held"]
