"""Comparing sides: values, changes, verdicts, and reasons a comparison may be unfair."""

from launchlens.comparison.compare import compare, tabulate
from launchlens.comparison.figures import side_figures
from launchlens.comparison.recompute import recompute

__all__ = ["compare", "recompute", "side_figures", "tabulate"]
