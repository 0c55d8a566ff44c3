"""``diff --bench``: request-level results beside the traces. The results are made up."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/bench"))

from test_bench_files import AIPERF, VLLM  # noqa: E402

EAGER, PIECES = (
    ROOT / f"traces/vllm024-qwen3-0.6b-{name}.nsys2025.3.sqlite.xz"
    for name in ("eager", "piecewise.node")
)


@pytest.fixture
def diff(cli, tmp_path):
    def compare(*documents, options=()):
        words = []
        for number, document in enumerate(documents):
            file = tmp_path / f"{number}.json"
            file.write_text(json.dumps(document))
            words += ["--bench", file]
        return cli("diff", EAGER, PIECES, *words, *options)

    return compare


FASTER = VLLM | {"median_ttft_ms": 14.0, "p99_ttft_ms": 30.0, "request_throughput": 20.0}


def test_times_and_rates_by_concurrency_with_changes(diff):
    code, out, _ = diff(VLLM, FASTER)
    assert code == 0
    lines = [line for line in out.splitlines() if "TTFT, median" in line]
    assert len(lines) == 1
    for said in ("28.0 ms", "14.0 ms", "−50.0%"):
        assert said in lines[0]
    assert "One measurement each" in out
    assert "TTFT, mean" not in out
    assert "TTFT, mean" in diff(VLLM, FASTER, options=["-v"])[1]


def test_requests_stand_in_the_first_sentence(diff):
    """Untraced times of requests before the traced ones of steps: what one would quote."""
    _, out, _ = diff(VLLM, FASTER)
    said = " ".join(out.partition("\n\n")[0].split())
    assert "TTFT 28.0 → 14.0 ms at concurrency 4 (untraced, vllm bench); prefill step" in said
    _, out, _ = diff(VLLM, FASTER, options=["-f", "markdown"])
    assert "TTFT 28.0 → 14.0 ms at concurrency 4" in out.splitlines()[0]
    _, out, _ = diff(VLLM, {k: v for k, v in FASTER.items() if k != "median_ttft_ms"})
    assert "TTFT" not in out.partition("\n\n")[0]


def test_in_json(diff):
    _, out, _ = diff(VLLM, FASTER, options=["-f", "json"])
    comparison = json.loads(out)
    (result,) = comparison["candidates"][0]["facts"]["benchmarks"]
    assert (result["ttft_ns"]["median"], result["concurrency"], result["file"]) == (
        *(14e6, 4, "1.json"),
    )


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"max_concurrency": 1}, "concurrency"),
        ({"total_input_tokens": 20_000}, "ISL"),
        ({"total_output_tokens": 20_000}, "OSL"),
        ({"model_id": "other/model"}, "model"),
    ],
)
def test_another_load_makes_the_comparison_unfair(diff, other, what):
    _, out, _ = diff(VLLM, FASTER | other)
    assert f"benchmark's {what}" in out


def test_another_tool_alone_does_not(diff):
    _, out, _ = diff(VLLM, AIPERF)
    assert "benchmark's" not in out


def test_one_file_for_two_sides(fails, tmp_path):
    file = tmp_path / "a.json"
    file.write_text(json.dumps(VLLM))
    said = fails("diff", EAGER, PIECES, "--bench", file, code=2)
    assert "1 --bench for 2 sides" in said
