"""`launchlens check`: budgets held on traces and on variants of runs."""

from __future__ import annotations

import json

import pytest
from stored_runs import EAGER, NODE, SPANS, TRACES

MISSING = TRACES / "gemma-3n-cudagraph.default-mode.nsys2023.4.sqlite.xz"


@pytest.fixture
def budget(tmp_path):
    def write(limits, pattern="qwen3-0.6b*"):
        path = tmp_path / "launchlens.toml"
        path.write_text(f'[models."{pattern}"]\n{limits}\n', encoding="utf-8")
        return path

    return write


def test_limits_that_hold(cli, budget):
    path = budget('prefill = { launches = 1, idle = "30%", window_ns = "15ms" }')
    code, out, err = cli("check", path, NODE)
    assert (code, out, err) == (0, "qwen3-0.6b-cudagraph: 3 limits held\n", "")
    out = cli("check", path, NODE, "--verbose")[1]
    assert "  held: qwen3-0.6b*: prefill launches <= 1 (qwen3-0.6b-cudagraph, prefill" in out
    assert len(out.splitlines()) == 4


def test_a_broken_limit_shows_budget_value_and_what_it_is_made_of(cli, budget):
    code, out, _ = cli("check", budget("launches = 500"), EAGER, NODE)
    assert code == 3
    first, second, third = out.splitlines()
    assert first == "qwen3-0.6b-eager: 1 of 1 limit broken"
    assert second.startswith("  FAILED: qwen3-0.6b*: launches <= 500 (qwen3-0.6b-eager, prefill")
    assert "): 1569; cudaLaunchKernel 1315, " in second
    assert third == "qwen3-0.6b-cudagraph: 1 limit held"


def test_a_baseline_tells_what_has_changed(cli, budget):
    code, out, _ = cli("check", budget("launches = 500"), EAGER, "--baseline", NODE)
    assert code == 3
    assert "1569, from 1 to 1569; changed, per step: cudaLaunchKernel +1315" in out


def test_a_figure_that_the_trace_cannot_tell_does_not_hold(cli, budget):
    code, out, _ = cli("check", budget('idle = "99%"', "gemma-3n*"), MISSING)
    assert code == 3
    assert "FAILED (unknown)" in out
    code, out, _ = cli("check", budget('idle = "99%"'), SPANS)
    assert code == 3
    assert "only a bound" in out


def test_blockers_are_looked_for_when_they_are_limited(cli, budget):
    suspected = 'blockers = { max = 0, confidence = "suspected" }'
    code, out, _ = cli("check", budget(suspected), EAGER)
    assert code == 3
    assert "blockers <= 0 (qwen3-0.6b-eager): 1; dtoh-sync × 1" in out
    assert cli("check", budget(suspected), NODE)[0] == 0
    assert cli("check", budget("blockers = 0"), EAGER)[0] == 0
    gemma = TRACES / "gemma-3n-e4b-eager.nsys2025.3.sqlite.xz"
    code, out, _ = cli("check", budget("blockers = 0", "gemma-3n*"), gemma)
    assert code == 3
    assert ": 16; pageable-htod × 16" in out  # 10 of 4 bytes and 6 of 2 bytes (traces/ card)


def test_variants_of_runs_have_facts_and_their_own_name(cli, budget, stored):
    path = budget('untraced_ns = "5ms"\npeak_memory_bytes = "2GiB"', "qwen3-0.6b-cudagraph")
    code, out, _ = cli("check", path, "latest:cudagraph", "--runs", stored)
    assert (code, out) == (0, "qwen3-0.6b-cudagraph: 2 limits held\n")
    code, out, _ = cli("check", budget('untraced_ns = "5ms"'), "latest:eager", "--runs", stored)
    assert code == 3
    assert ": 40.3 ms" in out
    code, out, _ = cli("check", path, NODE)
    assert code == 3
    assert "it is measured only in runs" in out


def test_a_variant_that_failed_has_no_trace(fails, budget, stored):
    said = fails("check", budget("launches = 1"), "20261201:breakable", "--runs", stored)
    assert "20261201:breakable has no trace to hold limits against: Cannot copy" in said


def test_the_model_can_be_named(cli, fails, budget):
    path = budget("launches = 1", "google/gemma*")
    assert "has no limits for" in fails("check", path, NODE, code=2)
    assert cli("check", path, NODE, "--model", "google/gemma-4-E4B")[0] == 0


def test_bad_budgets_are_usage(fails, budget, tmp_path):
    assert "cannot be read" in fails("check", tmp_path / "none.toml", NODE, code=2)
    assert "Did you mean launches?" in fails("check", budget("lanches = 1"), NODE, code=2)


@pytest.mark.parametrize("held", [True, False])
def test_all_traces_in_one_json_object(cli, budget, tmp_path, held):
    path, file = budget(f"launches = {1 if held else 0}"), tmp_path / "limits.json"
    code, out, _ = cli("check", path, NODE, NODE, "--format", "json", "--output", file)
    assert (code, out) == (0 if held else 3, "")
    report = json.loads(file.read_text("utf-8"))
    assert (report["schema"], report["held"]) == ("launchlens.limits/1", held)
    assert [trace["label"] for trace in report["traces"]] == ["qwen3-0.6b-cudagraph"] * 2
    (result,) = report["traces"][0]["results"]
    assert (result["metric"], result["value"]) == ("launches", 1)
    assert result["status"] == ("held" if held else "failed")


def test_the_wrong_order_is_told_with_the_right_one(fails, budget, tmp_path):
    file = budget("launches = 1")
    said = fails("check", NODE, file, code=2)
    assert said.endswith(f"{NODE} is none. Type: launchlens check {file} {NODE}\n")
    said = fails("check", NODE, NODE, code=2)
    assert f"launchlens check BUDGET.toml {NODE} {NODE}\n" in said
    said = fails("check", "latest:eager", "no.toml", "more.sqlite", code=2)
    assert "launchlens check no.toml latest:eager more.sqlite\n" in said
    # a budget may have any name
    other = file.rename(tmp_path / "limits")
    assert "is none" not in fails("check", other, "missing.sqlite")


def test_a_misspelt_metric_is_told_before_any_trace_is_read(fails, budget):
    said = fails("check", budget("lanches = 1"), "missing.sqlite", code=2)
    assert "Did you mean launches?" in said
    assert "kernel" not in said
