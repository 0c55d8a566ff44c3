"""Comparing sides: values, changes, verdicts, and reasons a comparison may be unfair."""

from launchlens.comparison.compare import compare, tabulate

__all__ = ["compare", "tabulate"]
