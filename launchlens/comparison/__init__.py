"""Comparing sides: values, changes, verdicts, and reasons a comparison may be unfair."""

from launchlens.comparison.compare import compare, tabulate
from launchlens.comparison.figures import side_figures

__all__ = ["compare", "side_figures", "tabulate"]
