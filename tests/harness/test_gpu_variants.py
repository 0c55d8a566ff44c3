"""All variants on a real GPU. Run with ``pytest -m gpu``."""

import pytest
from on_gpu import needs_gpu, torch

from launchlens.harness.equivalence import compare_outputs
from launchlens.harness.variants import find_variant, list_variants

pytestmark = needs_gpu
QWEN3 = {"model": "qwen3-0.6b", "layers": 2, "device": "cuda", "dtype": "bfloat16", "isl": 25}
GEMMA3N = {"model": "gemma-3n-E4B", "layers": 2, "device": "cuda", "dtype": "bfloat16", "isl": 25}


@pytest.mark.parametrize("variant", [v.name for v in list_variants()])
def test_a_variant_computes_what_eager_computes(run_harness, tmp_path, variant):
    if variant == "breakable":
        pytest.importorskip("breakable_cuda_graphs")
    process, _ = run_harness(**QWEN3, osl=4, outputs_path=str(tmp_path / "eager.npz"))
    assert process.returncode == 0, process.stderr
    process, result = run_harness(
        **QWEN3, osl=4, variant=variant, outputs_path=str(tmp_path / "variant.npz")
    )
    assert process.returncode == 0, process.stderr
    assert result["status"] == "ok", result.get("failure")
    assert result["captured"]["prefill"] in {"eager", "captured", "compiled"}
    assert (result["captured"]["decode"] == "eager") == (variant == "eager"), result["notes"]
    checked = {phase: check["verdict"] for phase, check in result["replays"].items()}
    captures = find_variant(variant).captures
    assert checked == ({"prefill": "right", "decode": "right"} if captures else {})
    for row in compare_outputs(tmp_path / "eager.npz", tmp_path / "variant.npz"):
        assert row.baseline_finite
        assert row.candidate_finite
        # bfloat16 logits of this size differ by a rounding step or two when kernels do.
        assert row.max_abs_diff <= 0.1, row
    if variant in {"breakable", "piecewise"}:
        assert result["pieces"]["prefill"] == {"graphs": 3, "eager": 2}
    assert result["peak_memory_bytes"] > result["model"]["parameter_bytes"]


def test_gemma_3n_cannot_be_captured_and_says_where(run_harness):
    process, result = run_harness(**GEMMA3N, variant="cudagraph")
    assert process.returncode == 0, process.stderr
    assert result["status"] == "failed"
    assert result["failure"]["source"].startswith("modeling_gemma3n.py:")
    assert "Cannot copy between CPU and CUDA" in result["failure"]["error_line"]
    assert "registered buffer" in result["failure"]["hint"]


def test_keep_going_finds_both_of_gemma_3ns_blockers(run_harness):
    process, result = run_harness(**GEMMA3N, mode="attempt", keep_going=True)
    assert process.returncode == 0, process.stderr
    attempt = result["attempt"]
    functions = [item["function"] for item in attempt["blockers"]]
    assert functions == ["forward", "_gaussian_topk", "forward"]
    assert attempt["captured"] is True
    assert attempt["replay"]["verdict"] == "right"
    assert [item["kind"] for item in attempt["cleared"]] == ["dtoh"]


def test_a_step_traces_and_its_copies_are_seen(run_harness):
    process, result = run_harness(**GEMMA3N, mode="dispatch")
    assert process.returncode == 0, process.stderr
    assert result["accelerator"] == "cuda"
    assert [event["kind"] for event in result["events"]].count("dtoh") == 2


def test_requests_at_several_concurrencies(run_harness):
    process, result = run_harness(**QWEN3, osl=4, concurrency=[1, 4], variant="cudagraph")
    assert process.returncode == 0, process.stderr
    assert [row["concurrency"] for row in result["requests"]] == [1, 4]
    assert all(row["itl_ns"] > 0 for row in result["requests"])


def test_a_model_that_does_not_fit_says_how_much_it_needs(run_harness):
    if torch.cuda.mem_get_info()[1] > 180 * 2**30:
        pytest.skip("the GPU holds even this model")
    process, result = run_harness(model="mixtral-8x7b", device="cuda", dtype="float32")
    assert process.returncode == 1
    assert "GiB for its weights alone" in result["error"]["message"]
