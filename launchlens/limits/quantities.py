"""What thresholds and budgets share: quantities with units, counted blockers.

`thresholds` and `budget` use it; it uses errors and records alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from launchlens.catalogue import unit_of
from launchlens.errors import UsageError
from launchlens.records.gate import Number
from launchlens.records.metric import Unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from launchlens.records.figures import Finding, Group
    from launchlens.records.metric import Bound

BLOCKERS = "blockers"
CONFIDENCES = ("suspected", "likely", "confirmed")
DEFAULT_CONFIDENCE = "likely"

SHOWN_PARTS = 4
UNPROVEN = (
    "whole-graph tracing gives only a bound of it, which cannot prove that the limit holds; "
    "trace with --cuda-graph-trace=node"
)
NO_CALLS = "the trace has no CUDA API calls, in which blockers show"
"""Why a trace without findings proves nothing, if CUDA was not traced."""

_API_WORDS = {
    "launches": ("Launch",),
    "kernel_launches": ("LaunchKernel", "LaunchCooperativeKernel"),
    "graph_launches": ("GraphLaunch",),
    "submissions": ("Launch", "Memcpy", "Memset"),
    "memcpy_calls": ("Memcpy",),
    "memset_calls": ("Memset",),
    "sync_calls": ("Synchronize",),
    "alloc_calls": ("Alloc", "Free"),
}
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
    by_phase: dict[str | None, dict[str, float]] = {}
    for finding in findings:
        if finding.confidence in counted:
            # A finding that is there in only some of the steps still blocks: never rounded to 0.
            rules = by_phase.setdefault(finding.phase, {})
            rules[finding.rule] = rules.get(finding.rule, 0) + finding.count_per_step
    # A step is of one phase: the one with most counts.
    rules = max(by_phase.values(), key=lambda r: sum(r.values()), default={})
    total = float(sum(rules.values()))
    count = int(total) if total.is_integer() else total
    return count, ", ".join(f"{rule} × {count:g}" for rule, count in rules.items()) or None


def is_proven(*, fails_above: bool, value: Bound | None, baseline: Bound | None = None) -> bool:
    """Whether a limit that holds on bounds of figures holds on the figures too.

    Args:
        fails_above: the limit is an upper one.
        value: what side the held figure is a bound from.
        baseline: the same of what it is a change against, where it is a change.
    """
    if fails_above:
        return value != "lower" and baseline != "upper"
    return value != "upper" and baseline != "lower"


def explain_value(metric: str, group: Group) -> str | None:
    """What a figure is made of: its largest parts, for one who sees a limit broken.

    Args:
        metric: name of the figure.
        group: the steps it is a median of.

    Returns:
        "cudaLaunchKernel 3700, cuLaunchKernelEx 128 per step"; None where nothing is known.
    """
    parts = _parts(metric, group)
    largest = sorted(parts.items(), key=lambda item: -item[1])[:SHOWN_PARTS]
    if unit_of(metric) in ("ns", "fraction"):
        total = sum(parts.values()) or 1
        listed = ", ".join(f"{name} {n / total:.0%}" for name, n in largest if n / total >= 0.005)
        return f"idle time by cause: {listed}" if listed else None
    listed = ", ".join(f"{_short(name)} {_amount(metric, n)}" for name, n in largest if n)
    return f"{listed} per step" if listed else None


def explain_change(metric: str, before: Group, after: Group) -> str | None:
    """What changed in a figure's parts between two groups of steps, the largest first."""
    old, new = _parts(metric, before), _parts(metric, after)
    changes = {name: new.get(name, 0) - old.get(name, 0) for name in {*old, *new}}
    largest = sorted(changes.items(), key=lambda item: (-abs(item[1]), item[0]))[:SHOWN_PARTS]
    listed = ", ".join(
        f"{_short(name)} {'+' if n > 0 else '−'}{_amount(metric, abs(n))}"
        for name, n in largest
        if round(n, 6)
    )
    what = "idle time by cause changed" if unit_of(metric) in ("ns", "fraction") else "changed"
    return f"{what}, per step: {listed}" if listed else None


def _parts(metric: str, group: Group) -> dict[str, float]:
    """A figure's parts for each step: API calls, kernels, or the causes of gaps."""
    if group.steps == 0:
        return {}
    if metric == "kernels":
        return {row.name: row.count / group.steps for row in group.kernels}
    if unit_of(metric) in ("ns", "fraction"):
        gaps = {k: s.median for k, s in group.metrics.items() if k.startswith("gaps_ns.")}
        return {k.removeprefix("gaps_ns."): v for k, v in gaps.items() if v is not None}
    words = _API_WORDS.get(metric, ())
    return {
        row.name: row.count / group.steps
        for row in group.api_calls
        if any(word in row.name for word in words)
    }


def _amount(metric: str, number: float) -> str:
    if unit_of(metric) in ("ns", "fraction"):
        return f"{number:,.0f} ns"
    return f"{number:.1f}".removesuffix(".0")


def _short(name: str) -> str:
    flat = " ".join(name.split())
    return flat if len(flat) <= 80 else f"{flat[:79]}…"
