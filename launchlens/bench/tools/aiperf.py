"""NVIDIA AIPerf and GenAI-Perf: ``profile_export_aiperf.json``, ``profile_export_genai_perf.json``.

Both write a metric as an object of its unit, average and quantiles; older AIPerf puts them under
"records".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from launchlens.bench.numbers import UNITS, number, spread, whole
from launchlens.records.benchmark import BenchmarkResult, Spread

TITLE = "AIPerf or GenAI-Perf"
_MODEL = (("endpoint", "model_names"), ("model",), ("model_names",))
_CONCURRENCY = (
    ("loadgen", "concurrency"),
    ("perf_analyzer", "stimulus", "concurrency"),
    ("concurrency",),
)


def reads(document: Mapping[str, Any]) -> bool:
    """Whether a document is one of their exports."""
    return isinstance(_metrics(document).get("request_throughput"), Mapping)


def results(document: Mapping[str, Any]) -> list[BenchmarkResult]:
    """The one load of an export."""
    metrics, config = _metrics(document), document.get("input_config") or {}
    return [
        BenchmarkResult(
            tool=TITLE,
            file="",
            model=_first(_found(config, _MODEL)),
            isl=_average(metrics, "input_sequence_length"),
            osl=_average(metrics, "output_sequence_length"),
            concurrency=number(_first(_found(config, _CONCURRENCY))),
            completed=whole(_average(metrics, "request_count")),
            ttft_ns=_times(metrics.get("time_to_first_token")),
            itl_ns=_times(metrics.get("inter_token_latency")),
            latency_ns=_times(metrics.get("request_latency")),
            requests_per_s=_average(metrics, "request_throughput"),
            tokens_per_s=_average(metrics, "output_token_throughput"),
        )
    ]


def _metrics(document: Mapping[str, Any]) -> Mapping[str, Any]:
    records = document.get("records")
    return records if isinstance(records, Mapping) else document


def _average(metrics: Mapping[str, Any], name: str) -> float | None:
    metric = metrics.get(name)
    return number(metric.get("avg")) if isinstance(metric, Mapping) else None


def _times(metric: Mapping[str, Any] | None) -> Spread:
    """A time in the unit that it names; one of another unit is not known."""
    unit = UNITS.get(str((metric or {}).get("unit")))
    return spread(metric, "avg", "p50", "p99", unit=unit) if metric and unit else Spread()


def _found(config: Any, ways: tuple[tuple[str, ...], ...]) -> Any:
    for way in ways:
        place = config
        for key in way:
            place = place.get(key) if isinstance(place, Mapping) else None
        if place is not None:
            return place
    return None


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value
