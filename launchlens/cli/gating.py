"""``--fail-on``: thresholds end a command with exit code 3."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from launchlens.errors import EXIT_THRESHOLD

SEARCHED = (
    "Capture blockers were looked for in the CUDA API calls: a side that lists none has none there."
)
"""A note in reports, without which an empty list of findings says nothing."""

if TYPE_CHECKING:
    from launchlens.limits import Limit
    from launchlens.records.comparison import Comparison
    from launchlens.records.figures import Analysis, Finding
    from launchlens.records.limits import LimitResult


def parse_conditions(texts: Sequence[str] | None) -> list[Limit]:
    """Thresholds as given; wrong ones are refused before any work is done."""
    if not texts:
        return []
    from launchlens.limits import parse_condition

    return [parse_condition(text) for text in texts]


def asks_for_blockers(conditions: Sequence[Limit]) -> bool:
    """Whether a condition is on capture blockers, so that they have to be looked for."""
    from launchlens.limits import ask_for_blockers

    return ask_for_blockers(conditions)


def check_comparison(conditions: Sequence[Limit], comparison: Comparison) -> None:
    """End with exit code 3 if a condition holds, or cannot be known not to hold."""
    if conditions:
        from launchlens import limits

        report(limits.check_comparison(conditions, comparison))


def check_analysis(conditions: Sequence[Limit], analysis: Analysis) -> None:
    """The same for one trace, whose conditions are absolute."""
    if conditions:
        from launchlens import limits

        report(limits.check_analysis(conditions, analysis))


def check_findings(conditions: Sequence[Limit], label: str, findings: Sequence[Finding]) -> None:
    """The same for blockers alone: ``--fail-on blockers``, ``blockers:suspected``.

    Raises:
        UsageError: a condition on anything else.
    """
    if conditions:
        from launchlens import limits

        report(limits.check_findings(conditions, label, findings))


def require_blockers(conditions: Sequence[Limit]) -> None:
    """Refuse conditions on anything but blockers, before any work is done.

    Raises:
        UsageError: a condition on another metric.
    """
    if conditions:
        from launchlens import limits

        limits.require_blockers(conditions)


def report(results: Sequence[LimitResult]) -> None:
    """Say which gates failed, on standard error, and exit with 3 if any did."""
    from launchlens.render.gates import describe_gate

    failed = [result for result in results if not result.passed]
    for result in failed:
        sys.stderr.write(f"{describe_gate(result)}\n")
    if failed:
        raise typer.Exit(EXIT_THRESHOLD)
