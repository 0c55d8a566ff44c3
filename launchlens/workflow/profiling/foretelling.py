"""What a run's variants will take, forecast from its eager trace before they are measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from launchlens.errors import LaunchlensError
from launchlens.harness.variants import as_it_is
from launchlens.store import RunFolder
from launchlens.workflow.forecasting import Wanted, forecast_trace, known_times
from launchlens.workflow.profiling.outcome import Outcome
from launchlens.workflow.profiling.progress import Progress


def foretell(
    outcome: Outcome, measured: Sequence[Outcome], run: RunFolder, progress: Progress
) -> None:
    """Forecasts from the variant that runs the model as it is, into the run's folder.

    Of variants that were measured before it there are none: they would be no forecasts.
    """
    if outcome.facts.variant != as_it_is().name or outcome.counts is None:
        return
    wanted = Wanted(untraced=known_times(outcome.facts), constants=run.calibration)
    try:
        made = forecast_trace(outcome.counts, wanted)
    except LaunchlensError as error:
        progress.say(f"What capture would bring could not be forecast: {error}")
        return
    done = {one.facts.variant for one in measured}
    left = tuple(f for f in made.forecasts if f.variant not in done)
    run.save_forecast(outcome.variant, replace(made, forecasts=left))
