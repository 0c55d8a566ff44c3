"""``--fail-on``: thresholds end a command with exit code 3."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from launchlens.errors import EXIT_THRESHOLD

if TYPE_CHECKING:
    from launchlens.model.comparison import Comparison
    from launchlens.model.figures import Analysis
    from launchlens.model.gate import GateResult
    from launchlens.thresholds import Threshold


def parse_conditions(texts: Sequence[str] | None) -> list[Threshold]:
    """Thresholds as given; wrong ones are refused before any work is done."""
    if not texts:
        return []
    from launchlens.thresholds import parse_threshold

    return [parse_threshold(text) for text in texts]


def check_comparison(conditions: Sequence[Threshold], comparison: Comparison) -> None:
    """End with exit code 3 if a condition holds, or cannot be known not to hold."""
    if conditions:
        from launchlens.thresholds import check_thresholds

        report(check_thresholds(conditions, comparison))


def check_analysis(conditions: Sequence[Threshold], analysis: Analysis) -> None:
    """The same for one trace, whose conditions are absolute."""
    if conditions:
        from launchlens.thresholds import check_values

        report(check_values(conditions, analysis))


def report(results: Sequence[GateResult]) -> None:
    """Say which gates failed, on standard error, and exit with 3 if any did."""
    from launchlens.render.gates import describe_gate

    failed = [result for result in results if not result.passed]
    for result in failed:
        sys.stderr.write(f"{describe_gate(result)}\n")
    if failed:
        raise typer.Exit(EXIT_THRESHOLD)
