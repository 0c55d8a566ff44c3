"""SGLang: ``python -m sglang.bench_serving --output-file``, a line of JSON for each load.

Source: sglang/bench_serving.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from launchlens.bench.numbers import number, per, spreads, whole
from launchlens.records.benchmark import BenchmarkResult

TITLE = "sglang.bench_serving"


def reads(document: Mapping[str, Any]) -> bool:
    """Whether a document is one of its results."""
    return {"request_throughput", "mean_e2e_latency_ms"} <= document.keys()


def results(document: Mapping[str, Any]) -> list[BenchmarkResult]:
    """The load of a line."""
    completed = document.get("completed")
    server = document.get("server_info") or {}
    return [
        BenchmarkResult(
            tool=TITLE,
            file="",
            model=server.get("model_path") if isinstance(server, Mapping) else None,
            isl=per(document.get("total_input_tokens"), completed),
            osl=per(document.get("total_output_tokens"), completed),
            concurrency=number(document.get("max_concurrency")),
            completed=whole(completed),
            failed=None,
            requests_per_s=number(document.get("request_throughput")),
            tokens_per_s=number(document.get("output_throughput")),
            **spreads(document, "e2e_latency"),
        )
    ]
