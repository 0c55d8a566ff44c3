"""How well the forecasts of stored runs held."""

from __future__ import annotations

import statistics
from pathlib import Path

from launchlens.records.score import ForecastScore


def score_runs(runs: Path | None) -> ForecastScore:
    """Forecasts of all runs in a folder beside what the variants took.

    Raises:
        StoreError: the run database cannot be read.
    """
    from launchlens.store import list_runs, read_outcomes, runs_root

    root = runs_root(runs)
    list_runs(root)  # rows of folders that were copied there
    outcomes = read_outcomes(root)
    errors = [abs(one.error) for one in outcomes]
    return ForecastScore(
        outcomes=outcomes,
        median_error=statistics.median(errors) if errors else None,
        worst_error=max(errors, default=None),
        held=sum(one.held for one in outcomes),
    )
