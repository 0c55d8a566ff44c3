"""What thresholds and budgets share: quantities with units, counted blockers.

`thresholds` and `budget` use it; it uses errors and records alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from launchlens.errors import UsageError
from launchlens.model.gate import Number, Unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from launchlens.model.figures import Finding

BLOCKERS = "blockers"
CONFIDENCES = ("suspected", "likely", "confirmed")
DEFAULT_CONFIDENCE = "likely"
REQUEST_METRICS = ("ttft_ns", "itl_ns", "latency_ns", "requests_per_s", "tokens_per_s")

_SCALES: dict[str, tuple[Unit, float]] = {
    "ns": ("ns", 1),
    "us": ("ns", 1e3),
    "µs": ("ns", 1e3),
    "ms": ("ns", 1e6),
    "s": ("ns", 1e9),
    "B": ("bytes", 1),
    "KiB": ("bytes", 2**10),
    "MiB": ("bytes", 2**20),
    "GiB": ("bytes", 2**30),
}
_QUANTITY = re.compile(r"(?P<number>\d+(?:\.\d+)?|\.\d+)\s*(?P<suffix>%|pp|[A-Za-zµ]+)?")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as written, in base units: ns, bytes, a fraction, or a count.

    ``kind`` tells what the suffix said: "plain" (none), "percent", "points" (percentage
    points, as a fraction) or a unit ("ns", "bytes").
    """

    number: Number
    kind: Literal["plain", "percent", "points", "ns", "bytes"]


def unit_of(metric: str) -> Unit:
    """The unit of a metric, by the house rule that names end in their unit."""
    if metric.endswith("_ns") or metric.startswith("gaps_ns"):
        return "ns"
    if metric.endswith("_bytes"):
        return "bytes"
    if metric.endswith("_per_s"):
        return "per_s"
    if metric.startswith("idle") or metric in ("inflation", "share"):
        return "fraction"
    return "count"


def parse_quantity(text: str) -> Quantity:
    """Reads "500", "15ms", "50%", "2pp" or "1.5 GiB".

    Raises:
        UsageError: the text is no number, or its suffix is none of the known ones.
    """
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is no quantity.", hint="Write 500, 15ms, 50%, 2pp or 1.5GiB.")
    digits, suffix = match["number"], match["suffix"]
    number: Number = float(digits) if "." in digits else int(digits)
    if suffix is None:
        return Quantity(number, "plain")
    if suffix in ("%", "pp"):
        return Quantity(number / 100, "percent" if suffix == "%" else "points")
    if suffix not in _SCALES:
        raise UsageError(
            f"{suffix!r} in {text!r} is no unit.", hint=f"Use %, pp, {', '.join(_SCALES)} or none."
        )
    unit, scale = _SCALES[suffix]
    return Quantity(number * scale, "ns" if unit == "ns" else "bytes")


def count_blockers(
    findings: Sequence[Finding], confidence: str = DEFAULT_CONFIDENCE
) -> tuple[Number, str | None]:
    """Blocking calls in each step, by findings of at least this confidence.

    Args:
        findings: findings of one side; cleared ones never count.
        confidence: "suspected", "likely" or "confirmed".

    Returns:
        The calls in each step, and which rules they belong to (None without any).
    """
    counted = CONFIDENCES[CONFIDENCES.index(confidence) :]
    rules: dict[str, float] = {}
    for finding in findings:
        if finding.confidence in counted:
            # A finding that is there in only some of the steps still blocks: never rounded to 0.
            rules[finding.rule] = rules.get(finding.rule, 0) + finding.count_per_step
    total = float(sum(rules.values()))
    count = int(total) if total.is_integer() else total
    return count, ", ".join(f"{rule} × {count:g}" for rule, count in rules.items()) or None
