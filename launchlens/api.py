"""The public Python API, for notebooks and scripts. Imported through `launchlens` itself."""

from __future__ import annotations

from collections.abc import Sequence

from launchlens.comparison import compare as _compare
from launchlens.metrics import summarize
from launchlens.records.comparison import Comparison, SideInput
from launchlens.records.figures import Analysis
from launchlens.trace import read_trace

__all__ = ["compare", "read_trace", "summarize"]


def compare(analyses: Sequence[Analysis | SideInput], *, title: str | None = None) -> Comparison:
    """Compare a baseline (the first) with candidates.

    Args:
        analyses: what `summarize` returned, or `SideInput` records with a label of their own
            and facts such as untraced times.
        title: what is compared.

    Returns:
        The comparison; ``comparison.frame()`` gives all rows as a pandas DataFrame.

    Raises:
        UsageError: fewer than two sides.
    """
    return _compare(
        [a if isinstance(a, SideInput) else SideInput(a.trace.label, a) for a in analyses],
        title=title,
    )
