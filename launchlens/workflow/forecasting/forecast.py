"""Every phase of a trace forecast, with what a reader must know of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from launchlens.records.forecast import ConstantsUsed, Forecast, RangeSaving
from launchlens.workflow.forecasting.ranges import rank_ranges
from launchlens.workflow.forecasting.savings import questions
from launchlens.workflow.forecasting.steps import steps_of, traced_step, why_not
from launchlens.workflow.forecasting.times import check_given, known_time
from launchlens.workflow.forecasting.wanted import ONE_GRAPH, Wanted
from launchlens.workflow.load import Loaded

if TYPE_CHECKING:
    from launchlens.forecast import PhaseForecasts
    from launchlens.forecast.constants import Constants
    from launchlens.records.figures import Step

_STEPS = 5
_QUICK_STEPS = 3
_HARNESS = "launchlens"


def forecast_trace(loaded: Loaded, wanted: Wanted | None = None) -> Forecast:
    """Forecast every phase of a trace.

    Raises:
        UsageError: an option is no regular expression, or names nothing in the trace.
    """
    from launchlens.forecast import forecast_phase
    from launchlens.forecast.constants import choose
    from launchlens.forecast.step_graph import TraceIndex

    wanted = wanted or Wanted()
    analysis = loaded.analysis
    check_given(wanted.given, [g.phase for g in analysis.summary])
    constants = choose(analysis.trace.gpu, analysis.trace.format, wanted.constants)
    index = TraceIndex(loaded.trace, loaded.measured.calls)
    asked = questions(loaded, wanted)
    made: list[PhaseForecasts] = []
    ranges: list[RangeSaving] = []
    unanswered: list[str] = []
    for group in analysis.summary:
        steps = steps_of(loaded, group)
        if why := why_not(loaded, group, steps):
            unanswered.append(f"{group.phase} steps: {why}.")
            continue
        most = _QUICK_STEPS if wanted.only else _STEPS
        chosen = steps[:: max(len(steps) // most, 1)][:most]
        traced = [traced_step(loaded, index, s, constants, wanted) for s in chosen]
        if wanted.only is None:
            ranges += rank_ranges(loaded, chosen[0], traced[0].graph, constants)
        certain = all(s.domain == _HARNESS for s in steps)
        known = known_time(wanted, group)
        made.append(
            forecast_phase(
                group.phase,
                traced,
                constants,
                known,
                asked,
                only=wanted.only,
                certain_effects=certain,
                part=_is_part(loaded, steps),
            )
        )
    untraced = tuple(m.untraced for m in made)
    forecasts = tuple(f for m in made for f in m.forecasts)
    return Forecast(
        label=analysis.trace.label,
        trace=analysis.trace,
        untraced_ns=untraced[0].step_ns if untraced else None,
        untraced=untraced,
        forecasts=forecasts,
        constants=_used(constants) if made else None,
        ranges=tuple(ranges),
        broken_at=wanted.break_at or "attention",
        unanswered=tuple(unanswered),
        notes=tuple(_notes(loaded, constants, made)),
    )


def _notes(loaded: Loaded, constants: Constants, made: Sequence[PhaseForecasts]) -> Iterator[str]:
    """What a reader must know of the forecasts."""
    if not made:
        return
    if constants.foreign:
        gpu = loaded.analysis.trace.gpu or "a GPU that the trace does not name"
        yield (
            f"Launches and graphs were measured on {constants.gpu}, and the trace is of {gpu}: "
            "intervals are wide. `launchlens calibrate` measures a machine."
        )
    if constants.other_recorder and any(m.untraced.source == "estimated" for m in made):
        yield (
            f"What tracing costs was measured with {constants.recorder}, not with what recorded "
            "this trace: the step as it is, untraced, is hardly known. --untraced-ms gives it."
        )
    for note, places, ns in dict.fromkeys(a for m in made for a in m.added):
        yield note.format(count=places, time=f"{ns / 1e6:.2f} ms")
    if any(f.part for m in made for f in m.forecasts):
        yield (
            "The engine's range holds work of its own around the forward pass, which a graph does "
            "not take away: the times as graphs are of the forward pass alone."
        )


def _is_part(loaded: Loaded, steps: Sequence[Step]) -> bool:
    """Whether the steps hold more than their engine captures, and do not tell it apart."""
    from launchlens.metrics import captured_scopes, holds_more

    return any(holds_more(s.engine) and not captured_scopes(loaded.trace, s) for s in steps)


def outlook_of(loaded: Loaded) -> Forecast:
    """What each phase of a trace would take as one CUDA graph, and nothing else."""
    from launchlens.store import calibration_file, runs_root

    return forecast_trace(loaded, Wanted(only=ONE_GRAPH, constants=calibration_file(runs_root())))


def _used(constants: Constants) -> ConstantsUsed:
    from launchlens.forecast.constants import COSTS

    return ConstantsUsed(
        gpu=constants.gpu,
        driver=constants.driver,
        cuda=constants.cuda,
        source="measured" if constants.source == "measured" else "shipped",
        foreign=constants.foreign,
        evidence=constants.evidence,
        costs_ns={name: getattr(constants, name).value for name in COSTS},
    )
