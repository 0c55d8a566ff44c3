"""The figures that `profile` and `blockers` must give on an H200. Run with ``pytest -m gpu``."""

from __future__ import annotations

import importlib.util
import json
from datetime import datetime
from pathlib import Path

import profiled
import pytest
from on_gpu import needs_gpu
from profiled import launchlens, newest_run, one_sentence, query
from tiny_model import make_checkpoint

from launchlens.harness.variants import list_variants

pytestmark = needs_gpu
NAMES = [variant.name for variant in list_variants()]
LAUNCHES = """
    SELECT count(DISTINCT r.correlationId)
    FROM (SELECT e.start, e.end, e.globalTid FROM NVTX_EVENTS e
          LEFT JOIN StringIds s ON s.id = e.textId
          WHERE e.eventType = 59 AND COALESCE(e.text, s.value) = 'prefill') step
    JOIN CUPTI_ACTIVITY_KIND_RUNTIME r
      ON r.globalTid = step.globalTid AND r.start BETWEEN step.start AND step.end
    JOIN StringIds n ON n.id = r.nameId
    WHERE n.value GLOB 'cudaLaunch*Kernel*' OR n.value GLOB 'cuLaunch*Kernel*'
       OR n.value GLOB 'cu*GraphLaunch*'
    GROUP BY step.start
"""


def profile(folder, *arguments, code=0):
    """Runs ``launchlens profile … --format json``; (report, run folder, run.json)."""
    done = launchlens(folder, "profile", *arguments, "--format", "json", timeout=900)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout), *newest_run(folder)


def values(report, metric, phase="prefill"):
    """Medians of one metric, the baseline's first."""
    rows = next(p["rows"] for p in report["phases"] if p["phase"] == phase)
    return [c["value"] for c in next(r["cells"] for r in rows if r["metric"] == metric)]


def epsilon_line():
    """The line at which Gemma 3n cannot be captured, from the installed source itself."""
    spec = importlib.util.find_spec("transformers.models.gemma3n.modeling_gemma3n")
    if spec is None or spec.origin is None:
        pytest.skip("this transformers has no Gemma 3n")
    lines = Path(spec.origin).read_text("utf-8").splitlines()
    found = [number for number, line in enumerate(lines, 1) if "epsilon_tensor.to(" in line]
    if not found:
        pytest.skip("this transformers can be captured: it was fixed in 5.23")
    return found[0]


def by_bytes(findings):
    return {f["bytes"]: (f["count_per_step"], f["confidence"]) for f in findings}


SIX_TEN_TWO = {2: (6, "confirmed"), 4: (10, "confirmed"), 1: (2, "cleared")}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Eager and CUDA graph of gemma-4-E4B, as one types it."""
    return profile(tmp_path_factory.mktemp("gemma4"), "--model", "gemma-4-E4B-it")


class TestGemma4:
    def test_launches(self, run):
        eager, captured = values(run[0], "launches")
        assert eager == pytest.approx(3828, abs=10)
        assert captured == 1

    def test_launches_are_those_in_the_traces(self, run):
        for name, launches in zip(("eager", "cudagraph"), values(run[0], "launches"), strict=True):
            trace = run[1] / "traces" / f"{name}.node.sqlite"
            counts = [count for (count,) in query(trace, LAUNCHES)]
            assert len(counts) == 8
            assert set(counts) == {launches}

    def test_idle(self, run):
        assert 0.83 <= values(run[0], "idle")[0] <= 0.87
        corrected, captured = values(run[0], "idle_corrected")
        assert captured < corrected < values(run[0], "idle")[0]

    def test_speed_up_is_untraced(self, run):
        eager_ns, captured_ns = values(run[0], "untraced_ns")
        assert 3 <= eager_ns / captured_ns <= 4.5

    def test_outputs_are_equal(self, run):
        found = run[0]["candidates"][0]["facts"]["equivalence"]
        assert [(e["dtype"], e["identical"]) for e in found] == [("bfloat16", True)]

    def test_it_takes_three_minutes_at_most(self, run):
        begun, ended = (datetime.fromisoformat(run[2][key]) for key in ("created", "finished"))
        assert (ended - begun).total_seconds() <= 180

    def test_what_capturing_costs_is_told(self, run):
        facts = run[0]["candidates"][0]["facts"]
        assert facts["graph_memory_bytes"] > 0
        assert facts["capture_ns"] > 0
        assert facts["peak_memory_bytes"] > 8 * 2**30


class TestGemma3n:
    def test_cudagraph_fails_at_its_line_and_brings_the_findings(self, tmp_path):
        line = epsilon_line()
        report, _, document = profile(tmp_path, "--model", "gemma-3n-E4B-it")
        assert document["status"] == "complete"
        candidate = report["candidates"][0]
        failure = candidate["facts"]["failure"]
        assert failure["during"] == "capture"
        assert failure["source"] == f"modeling_gemma3n.py:{line}"
        assert failure["error_line"].startswith("Cannot copy between CPU and CUDA tensors")
        assert by_bytes(candidate["findings"]) == SIX_TEN_TWO
        assert values(report, "launches")[1] is None

    def test_blockers_are_confirmed_one_after_the_other(self, tmp_path):
        line = epsilon_line()
        done = launchlens(
            tmp_path, "blockers", "--model", "gemma-3n-E4B-it", "--format", "json", timeout=900
        )
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        assert by_bytes(report["findings"]) == SIX_TEN_TWO
        assert report["attempt"]["captured"] is True
        sources = [b["source"] for b in report["attempt"]["blockers"]]
        assert len(sources) == 3
        assert sources[0] == f"modeling_gemma3n.py:{line}"
        assert sorted(report["attempt"]["patched_sources"]) == sorted(sources)

    def test_stops_at_the_first_if_told(self, tmp_path):
        line = epsilon_line()
        done = launchlens(
            tmp_path, "blockers", "--model", "gemma-3n-E4B-it", "--layers", "2",
            "--no-keep-going", "--format", "json", timeout=900,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        attempt = json.loads(done.stdout)["attempt"]
        assert attempt["captured"] is False
        assert [b["source"] for b in attempt["blockers"]] == [f"modeling_gemma3n.py:{line}"]

    def test_both_fixes_and_it_captures_as_it_stands(self, tmp_path):
        epsilon_line()
        patch = profiled.ROOT / "docs" / "examples" / "gemma3n_both.py"
        done = launchlens(
            tmp_path, "blockers", "--model", "gemma-3n-E4B-it", "--patch", patch,
            "--format", "json", timeout=900,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        attempt = report["patched"]["attempt"]
        assert (attempt["captured"], attempt["patched_sources"]) == (True, [])
        assert sum(f["count_per_step"] for f in report["effect"]["gone"]) == 16
        eager = {e["dtype"]: e for e in report["effect"]["equivalence"]["eager, patched"]}
        assert {name: e["identical"] for name, e in eager.items()} == dict.fromkeys(
            ("float32", "float16", "bfloat16"), True
        )
        assert report["effect"]["untraced_ns"]["cudagraph, patched"] > 0


def test_all_variants_of_qwen3(tmp_path):
    pytest.importorskip("breakable_cuda_graphs")
    arguments = [word for name in NAMES for word in ("--variant", name)]
    report, _, document = profile(tmp_path, "--model", "qwen3-0.6b", *arguments)
    assert {n: v["status"] for n, v in document["variants"].items()} == dict.fromkeys(NAMES, "ok")
    launches = dict(zip(NAMES, values(report, "launches"), strict=True))
    assert launches["cudagraph"] == 1
    assert all(launches[name] < launches["eager"] for name in NAMES if name != "eager")
    untraced = values(report, "untraced_ns")
    assert all(ns < untraced[0] for ns in untraced[1:])


def test_four_variants_of_gemma4(tmp_path):
    pytest.importorskip("breakable_cuda_graphs")
    names = ("eager", "cudagraph", "breakable", "compile")
    arguments = [word for name in names for word in ("--variant", name)]
    _, _, document = profile(tmp_path, "--model", "gemma-4-E4B-it", *arguments)
    assert {n: v["status"] for n, v in document["variants"].items()} == dict.fromkeys(names, "ok")


def test_requests_and_decode_steps(tmp_path):
    report, _, _ = profile(tmp_path, "--model", "qwen3-0.6b", "--osl", "5", "--concurrency", "1,4")
    assert [p["phase"] for p in report["phases"]] == ["prefill", "decode"]
    assert values(report, "launches", "decode")[1] == 1
    eager, captured = (
        {r["concurrency"]: r for r in side["facts"]["requests"]}
        for side in (report["baseline"], report["candidates"][0])
    )
    assert set(eager) == set(captured) == {1, 4}
    assert all(captured[c]["latency_ns"] < eager[c]["latency_ns"] for c in (1, 4))


def test_a_local_checkpoint_with_its_own_weights(tmp_path):
    make_checkpoint(tmp_path, tmp_path / "my-checkpoint")
    report, _, _ = profile(
        tmp_path, "--model", "./my-checkpoint", "--weights", "pretrained", "--isl", "512",
        "--batch", "4", "--dtype", "float16", "--equivalence", "float32",
    )  # fmt: skip
    assert values(report, "launches")[1] == 1
    found = report["candidates"][0]["facts"]["equivalence"]
    assert [(e["dtype"], e["identical"]) for e in found] == [("float16", True), ("float32", True)]


def test_a_patched_model_is_captured(tmp_path):
    line = epsilon_line()
    patch = profiled.ROOT / "docs" / "examples" / "gemma3n_both.py"
    report, _, _ = profile(
        tmp_path, "--model", "google/gemma-3n-E2B-it", "--patch", patch, "--layers", "4",
        "--variant", "eager", "--variant", "cudagraph", "--variant", "breakable",
    )  # fmt: skip
    eager, captured, broken = values(report, "launches")
    assert captured == 1
    assert 1 < broken < eager
    report, _, _ = profile(
        tmp_path, "--model", "google/gemma-3n-E2B-it", "--layers", "4",
        "--variant", "eager", "--variant", "breakable",
    )  # fmt: skip
    failure = report["candidates"][0]["facts"]["failure"]
    assert failure["source"] == f"modeling_gemma3n.py:{line}"


def test_a_step_that_does_not_fit_says_which_variant_and_how_much(tmp_path):
    done = launchlens(
        tmp_path, "profile", "--model", "qwen3-0.6b", "--layers", "2", "--variant", "eager",
        "--isl", "4096", "--batch", "20000", timeout=900,
    )  # fmt: skip
    said = one_sentence(done)
    assert "eager" in said
    assert "ran out of GPU memory" in said
    assert "GiB free" in said
