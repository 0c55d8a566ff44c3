"""vLLM: ``vllm bench serve --save-result``, and ``vllm bench latency --output-json``.

Source: vllm/benchmarks/serve.py and latency.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from launchlens.bench.numbers import S, number, per, spread, spreads, whole
from launchlens.records.benchmark import BenchmarkResult, Spread

TITLE = "vllm bench"


def reads(document: Mapping[str, Any]) -> bool:
    """Whether a document is one of its results."""
    serves = {"request_throughput", "total_token_throughput", "output_throughput"}
    return serves <= document.keys() or {"avg_latency", "latencies"} <= document.keys()


def results(document: Mapping[str, Any]) -> list[BenchmarkResult]:
    """The one load of a file."""
    if "avg_latency" in document:
        return [_latency(document)]
    completed = document.get("completed")
    return [
        BenchmarkResult(
            tool=TITLE,
            file="",
            model=document.get("model_id"),
            isl=per(document.get("total_input_tokens"), completed),
            osl=per(document.get("total_output_tokens"), completed),
            concurrency=number(document.get("max_concurrency")),
            completed=whole(completed),
            failed=whole(document.get("failed")),
            requests_per_s=number(document.get("request_throughput")),
            tokens_per_s=number(document.get("output_throughput")),
            **spreads(document, "e2el"),
        )
    ]


def _latency(document: Mapping[str, Any]) -> BenchmarkResult:
    """A batch's latency; its file tells neither tokens nor batch size."""
    quantiles = document.get("percentiles") or {}
    named = {"mean": document["avg_latency"], "50": quantiles.get("50"), "99": quantiles.get("99")}
    times: Spread = spread(named, "mean", "50", "99", unit=S)
    return BenchmarkResult(
        tool=f"{TITLE} latency", file="", completed=len(document["latencies"]), latency_ns=times
    )
