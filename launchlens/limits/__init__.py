"""Limits held against figures: conditions of ``--fail-on``, and budgets kept in TOML files.

`condition` and `budget` read both into the same `Limit`, and one engine (`check`) holds them.
"""

from launchlens.limits.check import check_analysis, check_comparison, check_findings
from launchlens.limits.condition import parse_condition
from launchlens.limits.model import (
    Limit,
    ask_for_blockers,
    require_blockers,
    require_steps,
    require_values,
)

__all__ = [
    "Limit",
    "ask_for_blockers",
    "check_analysis",
    "check_comparison",
    "check_findings",
    "parse_condition",
    "require_blockers",
    "require_steps",
    "require_values",
]
