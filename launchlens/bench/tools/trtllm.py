"""TensorRT-LLM: ``trtllm-bench throughput|latency --report_json``.

Source: tensorrt_llm/bench/dataclasses/reporting.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from launchlens.bench.numbers import number, spread, whole
from launchlens.records.benchmark import BenchmarkResult, Spread

TITLE = "trtllm-bench"


def reads(document: Mapping[str, Any]) -> bool:
    """Whether a document is one of its results."""
    return {"engine", "request_info", "performance"} <= document.keys()


def results(document: Mapping[str, Any]) -> list[BenchmarkResult]:
    """The one load of a report; TTFT and TPOT are there with ``--streaming``."""
    asked, performance = document["request_info"], document["performance"]
    streamed = document.get("streaming_metrics") or {}
    return [
        BenchmarkResult(
            tool=TITLE,
            file="",
            model=document["engine"].get("model"),
            isl=number(asked.get("avg_input_length")),
            osl=number(asked.get("avg_output_length")),
            concurrency=number(asked.get("avg_num_concurrent_requests")),
            completed=whole(asked.get("num_requests")),
            ttft_ns=_times(streamed.get("ttft_percentiles")),
            tpot_ns=_times(streamed.get("tpot_percentiles")),
            latency_ns=_times(performance.get("request_latency_percentiles_ms")),
            requests_per_s=number(performance.get("request_throughput_req_s")),
            tokens_per_s=number(performance.get("system_output_throughput_tok_s")),
        )
    ]


def _times(percentiles: Mapping[str, Any] | None) -> Spread:
    return spread(percentiles or {}, "average", "p50", "p99")
