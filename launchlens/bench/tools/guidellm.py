"""GuideLLM: ``guidellm benchmark --output-path …json``, one entry for each load.

Its "time per output token" includes the first, so that it is none of ours; its inter-token latency
does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from launchlens.bench.numbers import MS, S, number, whole
from launchlens.records.benchmark import BenchmarkResult, Spread

TITLE = "GuideLLM"


def reads(document: Mapping[str, Any]) -> bool:
    """Whether a document is one of its reports."""
    benchmarks = document.get("benchmarks")
    return isinstance(benchmarks, list) and all(
        isinstance(one, Mapping) and "metrics" in one for one in benchmarks
    )


def results(document: Mapping[str, Any]) -> list[BenchmarkResult]:
    """Every load of a report."""
    return [_result(one) for one in document["benchmarks"]]


def _result(one: Mapping[str, Any]) -> BenchmarkResult:
    metrics = one["metrics"]
    totals = metrics.get("request_totals") or {}
    return BenchmarkResult(
        tool=TITLE,
        file="",
        model=_search(one, ("model",)),
        isl=_value(metrics, "prompt_token_count", "mean"),
        osl=_value(metrics, "output_token_count", "mean"),
        concurrency=number(_search(one, ("streams", "max_concurrency"))),
        completed=whole(totals.get("successful")),
        failed=whole(totals.get("errored")),
        ttft_ns=_times(metrics, "time_to_first_token_ms", MS),
        itl_ns=_times(metrics, "inter_token_latency_ms", MS),
        latency_ns=_times(metrics, "request_latency", S),
        requests_per_s=_value(metrics, "requests_per_second", "mean"),
        tokens_per_s=_value(metrics, "output_tokens_per_second", "mean"),
    )


def _value(metrics: Mapping[str, Any], name: str, statistic: str) -> float | None:
    """A statistic over the requests that were answered."""
    answered = (metrics.get(name) or {}).get("successful") or {}
    found = answered.get(statistic)
    return number(
        found if found is not None else (answered.get("percentiles") or {}).get(statistic)
    )


def _times(metrics: Mapping[str, Any], name: str, unit: float) -> Spread:
    def time(*statistics: str) -> float | None:
        known = (_value(metrics, name, s) for s in statistics)
        found = next((value for value in known if value), None)
        return found * unit if found else None

    return Spread(time("mean"), time("median", "p50"), time("p99"))


def _search(one: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """A setting of the load: versions keep it at different places below "config" or "args"."""
    for place in (one.get("config"), one.get("args")):
        inner = place if isinstance(place, Mapping) else {}
        strategy = inner.get("strategy")
        for where in (inner, strategy if isinstance(strategy, Mapping) else {}):
            for name in names:
                if where.get(name) is not None:
                    return where[name]
    return None
