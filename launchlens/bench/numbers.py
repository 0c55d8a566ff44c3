"""Numbers of result files: checked, and in launchlens's units."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from launchlens.records.benchmark import Spread

TIMES = ("ttft", "tpot", "itl")
MS = 1e6
S = 1e9
UNITS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": MS, "s": S, "sec": S, "seconds": S}


def number(value: Any) -> float | None:
    """A finite number of a file; None for anything else, as tools write for what they lack."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def whole(value: Any) -> int | None:
    """A count."""
    known = number(value)
    return None if known is None else round(known)


def per(total: Any, count: Any) -> float | None:
    """A mean, from a sum and a count."""
    top, bottom = number(total), number(count)
    return None if top is None or not bottom else top / bottom


def spread(
    values: Mapping[str, Any], mean: str, median: str, p99: str, *, unit: float = MS
) -> Spread:
    """Mean, median and 99% quantile by their keys, in nanoseconds.

    A time of 0 stands for what was not measured: no request takes none.
    """

    def time(key: str) -> float | None:
        known = number(values.get(key))
        return known * unit if known else None

    return Spread(time(mean), time(median), time(p99))


def spreads(document: Mapping[str, Any], latency: str) -> dict[str, Spread]:
    """Times of a request in the keys that vLLM and SGLang write, such as ``mean_ttft_ms``.

    ``latency``: what the whole request is called there.
    """
    keys = {f"{name}_ns": name for name in TIMES} | {"latency_ns": latency}
    return {
        name: spread(document, f"mean_{key}_ms", f"median_{key}_ms", f"p99_{key}_ms")
        for name, key in keys.items()
    }
