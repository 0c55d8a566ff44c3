"""Result files of every tool: made up after the tools' code, but for the one in docs/examples."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from launchlens.bench import read_benchmarks
from launchlens.errors import LaunchlensError

SERVED = Path(__file__).parents[2] / "docs/examples/vllm/qwen3-0.6b-eager-c1.json"
TIMES = {"mean": 30.0, "median": 28.0, "p99": 60.0}

VLLM = {
    "model_id": "Qwen/Qwen3-0.6B", "num_prompts": 20, "max_concurrency": 4, "completed": 20,
    "failed": 1, "total_input_tokens": 500, "total_output_tokens": 100, "duration": 2.0,
    "request_throughput": 10.0, "output_throughput": 50.0, "total_token_throughput": 300.0,
    "mean_ttft_ms": 30.0, "median_ttft_ms": 28.0, "p99_ttft_ms": 60.0, "mean_tpot_ms": 5.0,
    "median_tpot_ms": 4.5, "p99_tpot_ms": 9.0, "mean_itl_ms": 5.1, "median_itl_ms": 4.6,
    "p99_itl_ms": 9.5,
}  # fmt: skip
SGLANG = {
    "backend": "sglang", "max_concurrency": 4, "completed": 20, "total_input_tokens": 500,
    "total_output_tokens": 100, "request_throughput": 10.0, "output_throughput": 50.0,
    "total_throughput": 300.0, "mean_e2e_latency_ms": 55.0, "median_e2e_latency_ms": 50.0,
    "p99_e2e_latency_ms": 80.0, "mean_ttft_ms": 30.0, "median_ttft_ms": 28.0, "p99_ttft_ms": 60.0,
    "mean_tpot_ms": 5.0, "median_tpot_ms": 4.5, "p99_tpot_ms": 9.0, "mean_itl_ms": 5.1,
    "median_itl_ms": 4.6, "p99_itl_ms": 9.5,
}  # fmt: skip
PERCENTILES = {"p50": 28.0, "p90": 40.0, "p99": 60.0, "average": 30.0}
TRTLLM = {
    "engine": {"model": "Qwen/Qwen3-0.6B", "backend": "Pytorch"},
    "request_info": {
        "num_requests": 20, "avg_num_concurrent_requests": 4.0, "avg_input_length": 25.0,
        "avg_output_length": 5.0,
    },
    "performance": {
        "request_throughput_req_s": 10.0, "system_output_throughput_tok_s": 50.0,
        "request_latency_percentiles_ms": {"p50": 50.0, "p99": 80.0, "average": 55.0},
    },
    "streaming_metrics": {
        "ttft_percentiles": PERCENTILES,
        "tpot_percentiles": {"p50": 4.5, "p99": 9.0, "average": 5.0},
    },
}  # fmt: skip


def of(unit, avg, p50, p99):
    return {"unit": unit, "avg": avg, "p50": p50, "p99": p99}


METRICS = {
    "request_throughput": {"unit": "requests/sec", "avg": 10.0},
    "output_token_throughput": {"unit": "tokens/sec", "avg": 50.0},
    "time_to_first_token": of("ms", 30.0, 28.0, 60.0),
    "inter_token_latency": of("ms", 5.1, 4.6, 9.5),
    "request_latency": of("ms", 55.0, 50.0, 80.0),
    "input_sequence_length": {"unit": "tokens", "avg": 25.0},
    "output_sequence_length": {"unit": "tokens", "avg": 5.0},
    "request_count": {"unit": "requests", "avg": 20},
}
AIPERF = METRICS | {
    "input_config": {
        "endpoint": {"model_names": ["Qwen/Qwen3-0.6B"]}, "loadgen": {"concurrency": 4},
    }
}  # fmt: skip
GENAI = METRICS | {
    "input_config": {
        "model": ["Qwen/Qwen3-0.6B"], "perf_analyzer": {"stimulus": {"concurrency": 4}},
    }
}  # fmt: skip


def answered(mean, median, p99):
    return {"successful": {"mean": mean, "median": median, "percentiles": {"p99": p99}}}


GUIDELLM = {
    "benchmarks": [
        {
            "config": {
                "strategy": {"type_": "concurrent", "streams": 4},
                "model": "Qwen/Qwen3-0.6B",
            },
            "metrics": {
                "request_totals": {"successful": 20, "errored": 1, "total": 21},
                "requests_per_second": answered(10.0, 10.0, 12.0),
                "output_tokens_per_second": answered(50.0, 50.0, 60.0),
                "prompt_token_count": answered(25.0, 25.0, 25.0),
                "output_token_count": answered(5.0, 5.0, 5.0),
                "request_latency": answered(0.055, 0.050, 0.080),
                "time_to_first_token_ms": answered(30.0, 28.0, 60.0),
                "inter_token_latency_ms": answered(5.1, 4.6, 9.5),
                "time_per_output_token_ms": answered(11.0, 11.0, 11.0),
            },
        }
    ]
}

FILES = {
    "vllm": (VLLM, "vllm bench"),
    "sglang": (SGLANG, "sglang.bench_serving"),
    "trtllm": (TRTLLM, "trtllm-bench"),
    "aiperf": (AIPERF, "AIPerf or GenAI-Perf"),
    "aiperf-records": ({"records": METRICS}, "AIPerf or GenAI-Perf"),
    "genai-perf": (GENAI, "AIPerf or GenAI-Perf"),
    "guidellm": (GUIDELLM, "GuideLLM"),
}


@pytest.fixture
def read(tmp_path):
    def write_and_read(*documents):
        file = tmp_path / "bench.json"
        file.write_text("\n".join(json.dumps(document) for document in documents))
        return read_benchmarks(file)

    return write_and_read


@pytest.mark.parametrize("name", FILES)
def test_all_say_the_same_where_they_say_it(read, name):
    """Every made-up file is of the same load: 20 requests, ISL 25, OSL 5, four at once."""
    document, tool = FILES[name]
    (result,) = read(document)
    assert (result.tool, result.file) == (tool, "bench.json")
    ttft = result.ttft_ns
    assert (ttft.mean, ttft.median, ttft.p99) == (30e6, 28e6, 60e6)
    assert (result.isl, result.osl, result.completed) == (25, 5, 20)
    assert (result.requests_per_s, result.tokens_per_s) == (10, 50)
    assert result.concurrency == (None if name == "aiperf-records" else 4)
    assert result.model == (None if name in ("sglang", "aiperf-records") else "Qwen/Qwen3-0.6B")
    if result.latency_ns.is_known:
        assert result.latency_ns.median == pytest.approx(50e6)
        assert result.latency_ns.p99 == pytest.approx(80e6)
    if result.itl_ns.is_known:
        assert result.itl_ns.median == 4.6e6
    if result.tpot_ns.is_known:
        assert result.tpot_ns.mean == 5e6


def test_a_file_of_vllm_itself():
    """Against what `vllm bench serve` printed when it wrote the file."""
    (result,) = read_benchmarks(SERVED)
    assert (result.tool, result.model) == ("vllm bench", "qwen3-0.6b")
    assert (result.isl, result.osl, result.completed, result.concurrency) == (25, 5, 32, 1)

    def shown(times):
        return [round(time / 1e6, 2) for time in (times.mean, times.median, times.p99)]

    assert shown(result.ttft_ns) == [44.29, 46.72, 54.58]
    assert shown(result.tpot_ns) == [14.40, 15.46, 17.58]
    assert shown(result.itl_ns) == [17.39, 20.42, 23.75]
    assert shown(result.latency_ns) == [101.90, 108.64, 122.35]
    assert round(result.requests_per_s, 2) == 9.79
    assert round(result.tokens_per_s, 2) == 48.96


def test_what_a_file_lacks_is_unknown(read):
    (vllm,) = read(VLLM)
    assert not vllm.latency_ns.is_known, "e2el is not among vllm's default percentile metrics"
    (offline,) = read(TRTLLM | {"streaming_metrics": None})
    assert not offline.ttft_ns.is_known
    (guide,) = read(GUIDELLM)
    assert not guide.tpot_ns.is_known, "GuideLLM's includes the first token"
    (units,) = read(AIPERF | {"time_to_first_token": of("furlongs", 1.0, 1.0, 1.0)})
    assert not units.ttft_ns.is_known
    (zero,) = read(VLLM | {"median_ttft_ms": 0.0, "max_concurrency": None})
    assert (zero.ttft_ns.median, zero.concurrency) == (None, None)


def test_lines_of_several_loads(read):
    found = read(SGLANG, SGLANG | {"max_concurrency": 16})
    assert [result.concurrency for result in found] == [4, 16]


def test_vllms_latency_of_a_batch(read):
    (result,) = read(
        {"avg_latency": 0.05, "latencies": [0.05, 0.05], "percentiles": {"50": 0.049, "99": 0.06}}
    )
    assert (result.latency_ns.mean, result.latency_ns.median) == (5e7, pytest.approx(4.9e7))
    assert (result.isl, result.completed) == (None, 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "of no benchmark that is known"),
        ("[1, 2]", "of no benchmark that is known"),
        ("{", "is not JSON"),
        ("", "is not JSON"),
        ('{"benchmarks": []}', "has no benchmark in it"),
        ("[" * 100_000, "is not JSON"),
        (json.dumps(TRTLLM | {"performance": 3}), "has other contents"),
        (json.dumps({"benchmarks": [{"metrics": 3}]}), "has other contents"),
    ],
)
def test_what_is_none(tmp_path, text, said):
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(LaunchlensError, match=said):
        read_benchmarks(file)


def test_no_file(tmp_path):
    with pytest.raises(LaunchlensError, match="cannot be read: no such file"):
        read_benchmarks(tmp_path / "gone.json")
