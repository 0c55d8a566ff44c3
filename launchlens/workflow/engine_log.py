"""An analysis joined with what its engine's log says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from launchlens.metrics.replay_state import replay_states
from launchlens.recipes import read_engine_log, recipe_of_engine
from launchlens.records.figures import Analysis
from launchlens.records.recipes import Recipe


def with_engine_log(analysis: Analysis, log: Path, recipe: Recipe | None = None) -> Analysis:
    """The analysis with what the engine's log says: captured sizes, and reasons.

    Without a ``recipe`` the steps' engine tells which; one without patterns changes nothing.
    """
    if recipe is None and analysis.summary:
        recipe = recipe_of_engine(analysis.summary[0].engine)
    if recipe is None or not recipe.log:
        return analysis
    told = read_engine_log(log, recipe)
    if not told.captured_sizes and not told.reasons:
        return analysis
    replays = replay_states(analysis.steps, told.captured_sizes)
    return replace(analysis, engine_log=told, replays=replays)
