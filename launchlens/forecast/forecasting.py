"""Forecasts of one phase: every change simulated on some of its steps, each with its interval."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from launchlens.calls import CallKind
from launchlens.forecast.case import Case, Change
from launchlens.forecast.changes import Mask, taking, without_tracing
from launchlens.forecast.constants import COSTS, Constants
from launchlens.forecast.simulate import simulate
from launchlens.forecast.step_graph import StepGraph
from launchlens.forecast.variants import variants
from launchlens.records.figures import Phase
from launchlens.records.forecast import StepForecast, Untraced, UntracedSource, Verdict

MATTERS = 0.05
"""A saving below this part of the step is little."""
_WITHIN_90 = 1.645
"""Standard deviations to either side that hold 90% of a normal distribution."""
_OF_NORMAL = 1.4826
"""Standard deviation of a normal distribution whose median distance from its middle is 1."""


@dataclass(frozen=True, slots=True)
class TracedStep:
    """A step of the trace to forecast from."""

    graph: StepGraph
    """As it was traced."""
    names: Sequence[str]
    """What each operation is."""
    breaks: Mask
    """Calls at which a breakable graph is broken."""
    outside: Mask
    """Calls that the engine makes outside of what it captures."""
    marked: Mask
    """Calls in the ranges that a question is about."""


@dataclass(frozen=True, slots=True)
class KnownTime:
    """An untraced time of a phase."""

    step_ns: int
    low_ns: int
    high_ns: int
    source: UntracedSource


@dataclass(frozen=True, slots=True)
class PhaseForecasts:
    """What was forecast of one phase, and work that capturing adds, by effect: places and time."""

    untraced: Untraced
    forecasts: tuple[StepForecast, ...]
    added: tuple[tuple[str, int, int], ...]
    """Note, places in a step, and time of each effect counted."""


def forecast_phase(
    phase: Phase,
    steps: Sequence[TracedStep],
    constants: Constants,
    known: KnownTime | None,
    asked: Sequence[tuple[str, Change]] = (),
    *,
    only: str | None = None,
    certain_effects: bool = False,
    part: bool = False,
) -> PhaseForecasts:
    """Forecast a phase from some of its steps.

    Args:
        phase: their phase.
        steps: the steps; at least one.
        constants: what launches, graphs and tracing cost.
        known: their untraced time, where it is known; else it is estimated from the trace.
        asked: further changes, with their names.
        only: the one variant wanted of those that are always forecast; None takes all.
        certain_effects: the model is known to do what the effects say; else the lower end of an
            interval is without them.
        part: the steps hold more than what is captured, and do not tell that apart.
    """
    cases = [_case(step, constants, known) for step in steps]
    base = _base(phase, steps, constants, known)
    wanted = [(v.name, v.change, False) for v in variants() if only in (None, v.name)]
    wanted += [(name, change, True) for name, change in asked]
    made = (_forecast(phase, cases, base, *w, certain=certain_effects, part=part) for w in wanted)
    effects: dict[str, tuple[int, int]] = {}
    for effect, ops in cases[0].added:
        ns = round(ops.size * cases[0].added_ns(effect, in_graph=True))
        effects[effect.note] = (int(ops.size), ns)
    added = tuple((note, places, ns) for note, (places, ns) in effects.items())
    return PhaseForecasts(base, tuple(f for f in made if f is not None), added)


def _case(step: TracedStep, constants: Constants, known: KnownTime | None) -> Case:
    if known is not None:
        graph = taking(step.graph, known.step_ns)
    else:
        graph = without_tracing(step.graph, constants.tracing_ns.value)
    return Case(graph, step.names, constants, step.breaks, step.outside, step.marked)


def _base(
    phase: Phase,
    steps: Sequence[TracedStep],
    constants: Constants,
    known: KnownTime | None,
) -> Untraced:
    traced = round(statistics.median(simulate(s.graph).window_ns for s in steps))
    if known is not None:
        low, high = known.low_ns, known.high_ns
        return Untraced(phase, known.step_ns, low, high, traced, known.source, len(steps))
    cost = constants.tracing_ns
    times = [
        round(
            statistics.median(
                simulate(without_tracing(s.graph, max(cost.value + sign * reach, 0.0))).window_ns
                for s in steps
            )
        )
        for sign in (0, 1, -1)
        for reach in (_WITHIN_90 * cost.spread,)
    ]
    return Untraced(phase, times[0], times[1], times[2], traced, "estimated", len(steps))


def _forecast(
    phase: Phase,
    cases: Sequence[Case],
    base: Untraced,
    name: str,
    change: Change,
    is_asked: bool,
    *,
    certain: bool,
    part: bool,
) -> StepForecast | None:
    graphs = [change(case) for case in cases]
    changed = [graph for graph in graphs if graph is not None]
    if not changed:
        return None
    times = [simulate(graph).window_ns for graph in changed]
    step = statistics.median(times)
    below, above = _reach(cases[0], change, times, certain=certain)
    captures = any((graph.kind == CallKind.GRAPH).any() for graph in changed)
    part = part and captures
    if not captures:  # the step as it is, with less in it: as uncertain as that is
        doubt = max(base.high_ns - base.low_ns, 0) / 2 / max(base.step_ns, 1)
        below = above = float(np.hypot(below, doubt * step))
    first = changed[0]
    low, high = max(round(step - below), 0), round(step + above)
    fast, slow = _speedups(base, step, low, high)
    without = replace(cases[0], adds=0.0)
    plain = change(without)
    added = max(int(first.op_ns.sum() - plain.op_ns.sum()), 0) if plain is not None else 0
    return StepForecast(
        variant=name,
        phase=phase,
        step_ns=round(step),
        low_ns=low,
        high_ns=high,
        speedup=None if part else base.step_ns / max(step, 1),
        speedup_low=None if part else slow,
        speedup_high=None if part else fast,
        saved_ns=None if part else base.step_ns - round(step),
        verdict="unknown" if part else _verdict(base, step, low, high),
        graph_launches=int((first.kind == CallKind.GRAPH).sum()),
        launches=int(first.launches.sum()),
        operations=first.operations,
        busy_ns=int(first.op_ns.sum()),
        added_ns=added,
        part=part,
        asked=is_asked,
    )


def _reach(
    case: Case, change: Change, times: Sequence[int], *, certain: bool
) -> tuple[float, float]:
    """How far the 90% interval reaches below and above: spreads of all costs, in quadrature."""
    graph = change(case)
    assert graph is not None
    step, constants = simulate(graph).window_ns, case.constants
    parts = [constants.model_error * step]
    away = statistics.median(abs(t - statistics.median(times)) for t in times)
    parts.append(_OF_NORMAL * away)
    for name in COSTS:
        other = change(replace(case, constants=constants.raised(name)))
        parts.append(simulate(other).window_ns - step if other is not None else 0.0)
    lower = 0.0
    if case.added:
        spread = max(effect.spread for effect, _ in case.added)
        more = change(replace(case, adds=1 + spread))
        parts.append(simulate(more).window_ns - step if more is not None else 0.0)
        plain = change(replace(case, adds=0.0))
        lower = 0.0 if certain or plain is None else step - simulate(plain).window_ns
    reach = _WITHIN_90 * float(np.linalg.norm(parts))
    return lower + reach, reach


def _speedups(base: Untraced, step: float, low: int, high: int) -> tuple[float, float]:
    """The ends of the interval of how many times faster: both times vary on their own."""
    factor = base.step_ns / max(step, 1)
    up = np.hypot(base.high_ns / max(base.step_ns, 1) - 1, step / max(low, 1) - 1)
    down = np.hypot(1 - base.low_ns / max(base.step_ns, 1), high / max(step, 1) - 1)
    return factor * (1 + float(up)), factor / (1 + float(down))


def _verdict(base: Untraced, step: float, low: int, high: int) -> Verdict:
    if low > base.high_ns:
        return "slower"
    return "little" if (1 - MATTERS) * base.step_ns < step or high > base.step_ns else "faster"
