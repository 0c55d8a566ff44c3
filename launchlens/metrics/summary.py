"""`summarize`: a trace becomes an `Analysis`: steps, and figures over groups of steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from launchlens.catalogue import shown_in, step_metrics
from launchlens.errors import StepNotFoundError, UsageError
from launchlens.metrics.between import between_steps
from launchlens.metrics.breakdown import (
    EndOrder,
    api_table,
    gap_followers,
    gap_histogram,
    kernel_table,
)
from launchlens.metrics.engines import is_scope
from launchlens.metrics.measure import MeasuredSteps, measure_steps
from launchlens.metrics.notes import find_losses, find_notes
from launchlens.metrics.range_costs import range_costs
from launchlens.metrics.replay_state import replay_states
from launchlens.metrics.statistics import describe
from launchlens.metrics.steps import find_steps, without_empty
from launchlens.records.columns import Trace
from launchlens.records.figures import PHASES, Analysis, BoundBy, Group, Phase, Stat, Step

PhaseChoice = Literal["prefill", "decode", "mixed", "unknown", "all"]

_ALIKE = 1.5
"""How many times as long steps of one kind may keep the GPU busy at most."""


def summarize(
    trace: Trace,
    *,
    phase: PhaseChoice = "all",
    step: str | None = None,
    skip: int = 0,
    whole: bool = False,
) -> Analysis:
    """Every figure of a trace's steps, and of each (phase, process, device) over its steps.

    Args:
        trace: what `read_trace` returned.
        phase: keep only the steps of one phase.
        step: regular expression that names steps, instead of the known patterns; a group
            named ``phase`` states the phase.
        skip: drop the first steps of each group (they may still warm up); reported.
        whole: read each process as one window, for traces without ranges.

    Raises:
        StepNotFoundError: the trace has no step, or none of the phase asked for.
        UsageError: ``step`` is no regular expression, ``skip`` is negative.
    """
    return summarize_measured(trace, phase=phase, step=step, skip=skip, whole=whole)[0]


def summarize_measured(
    trace: Trace,
    *,
    phase: PhaseChoice = "all",
    step: str | None = None,
    skip: int = 0,
    whole: bool = False,
) -> tuple[Analysis, MeasuredSteps]:
    """As `summarize`, with the measured rows for those who draw more from them (timelines)."""
    if skip < 0:
        raise UsageError(f"--skip {skip} is negative.", hint="Give the number of steps to drop.")
    ranges, empty = without_empty(trace, find_steps(trace, step=step, whole=whole))
    chosen = [r for r in ranges if phase in ("all", r.phase)]
    if not chosen:
        there = ", ".join(f"{p} ×{n}" for p, n in Counter(r.phase for r in ranges).items())
        raise StepNotFoundError(
            f"{trace.info.file} has no {phase} step (phases there: {there}).",
            hint="Choose another --phase, or name steps with --step '(?P<phase>...)'.",
        )
    measured = measure_steps(trace, chosen)
    groups = _groups(trace, measured, skip)
    analysis = Analysis(
        schema="launchlens.analysis/1",
        trace=trace.info,
        steps=measured.steps,
        summary=groups,
        skipped=sum(g.dropped for g in groups),
        notes=tuple(find_notes(trace, measured, groups, empty)),
        empty_ranges=empty,
        losses=find_losses(trace, measured),
        replays=() if whole else replay_states(measured.steps),
        between=() if whole else between_steps(trace, measured),
        ranges=() if whole else range_costs(trace, measured),
    )
    return analysis, measured


def _groups(trace: Trace, measured: MeasuredSteps, skip: int) -> tuple[Group, ...]:
    members = _members(measured.steps)
    ends = EndOrder(trace)
    # What has no device comes last: a reader, and a comparison, meets what is known first.
    keys = sorted(members, key=lambda k: (PHASES.index(k[0]), k[2] is None, k[1], k[2] or 0))
    groups = []
    for key in keys:
        rows = members[key]
        if len(rows) <= skip:
            raise UsageError(
                f"--skip {skip} leaves none of the {len(rows)} {key[0]} steps of process {key[1]}.",
                hint=f"Skip fewer than {len(rows)}, or choose one --phase.",
            )
        groups.append(_group(trace, measured, rows[skip:], skip, ends, device=key[2]))
    return tuple(groups)


def _members(steps: Sequence[Step]) -> dict[tuple[Phase, int, int | None], list[int]]:
    """Rows of each (phase, process, device).

    A step whose graphs are missing shows no device. Where all other such steps of the process ran
    on one device it belongs to them: apart, the others would pass for the whole.
    """
    used: dict[tuple[Phase, int], set[int]] = {}
    for s in steps:
        if s.device is not None:
            used.setdefault((s.phase, s.pid), set()).add(s.device)
    members: dict[tuple[Phase, int, int | None], list[int]] = {}
    for row, s in enumerate(steps):
        device, others = s.device, used.get((s.phase, s.pid), set())
        if device is None and s.graph_tracing == "missing" and len(others) == 1:
            (device,) = others
        members.setdefault((s.phase, s.pid, device), []).append(row)
    return members


def _group(
    trace: Trace,
    measured: MeasuredSteps,
    kept: Sequence[int],
    dropped: int,
    ends: EndOrder,
    *,
    device: int | None,
) -> Group:
    steps = [measured.steps[row] for row in kept]
    rows = np.array(kept, np.int64)
    first = steps[0]
    gaps = measured.device_time.gaps
    in_group = np.isin(measured.windowed, rows)[gaps.row]
    tracing = _tracing({s.graph_tracing for s in steps})
    pooled = _unlike(steps) if is_scope(first.engine) else None
    metrics = dict.fromkeys(_metrics(steps[:1]), _nothing(steps)) if pooled else _metrics(steps)
    countable = all(s.kernels is not None for s in steps) and not pooled
    attributed = all(s.gaps_ns is not None for s in steps) and not pooled
    return Group(
        phase=first.phase,
        pid=first.pid,
        device=device,
        engine=first.engine,
        steps=len(steps),
        dropped=dropped,
        metrics=metrics,
        graph_tracing=tracing,
        bound=None if pooled else _bound(steps),
        tokens=_same({s.tokens for s in steps}),
        unknown_reason=pooled or _unknown_reason(steps),
        gap_histogram=gap_histogram(gaps, in_group) if attributed else (),
        gap_followers=gap_followers(trace, measured, rows, in_group, ends) if attributed else (),
        kernels=kernel_table(trace, measured, rows, metrics[shown_in("kernels").name].bound)
        if countable
        else (),
        api_calls=()
        if pooled
        else api_table(trace, measured, rows, metrics[shown_in("api_calls").name].bound),
    )


def _nothing(steps: Sequence[Step]) -> Stat:
    """A figure that is unknown in all steps."""
    return Stat(None, None, None, None, None, None, 0, len(steps))


def _unlike(steps: Sequence[Step]) -> str | None:
    """Why scopes whose text tells nothing are not steps of one kind, if their work says so.

    Warm-up, capture, prefill and decode look alike by their names: a median over them is that of
    none.
    """
    work = {(s.launches, s.graph_launches, s.captured_calls) for s in steps}
    busy = [s.busy_ns for s in steps if s.busy_ns is not None]
    if len(work) == 1 and (not busy or max(busy) <= _ALIKE * min(busy)):
        return None
    launches = [s.launches for s in steps if s.launches is not None] or [0]
    return (
        f"the ranges {steps[0].range!r} do not say which steps are warm-up, prefill or decode, and "
        f"their work differs ({min(launches)} to {max(launches)} launches). Record the engine's "
        "own step ranges too, leave warm-up out with --skip, or name some ranges with --step."
    )


def _unknown_reason(steps: Sequence[Step]) -> str | None:
    """Why figures of the group are unknown, and in how many steps, unless in all."""
    reasons = [s.unknown_reason for s in steps if s.unknown_reason]
    if not reasons or len(reasons) == len(steps):
        return reasons[0] if reasons else None
    return f"in {len(reasons)} of {len(steps)} steps {reasons[0]}"


def _metrics(steps: Sequence[Step]) -> dict[str, Stat]:
    """Every metric of the catalogue over the steps; a bound where it is one in any of them.

    Where some steps bound it from below and others from above, the group's is unknown.
    """
    found = {}
    for metric in step_metrics():
        stat = describe([step.figure(metric.name) for step in steps], metric.unit)
        bounds = {b for step in steps if (b := step.bounds.get(metric.name))}
        if len(bounds) > 1:
            found[metric.name] = _nothing(steps)
        elif stat.median is not None:
            found[metric.name] = replace(stat, bound=next(iter(bounds), None))
        else:
            found[metric.name] = stat
    return found


def _tracing(values: Iterable[str | None]) -> str | None:
    """Graph tracing of a group: that of its steps that launch graphs; "mixed" where they differ.

    Steps without graphs hide nothing, so they make no bound of another step's figures.
    """
    known = {v for v in values if v is not None}
    if not known or "missing" in known:
        return "missing" if known else None
    graphs = known - {"none"}
    if len(graphs) > 1:
        return "mixed"
    return graphs.pop() if graphs else "none"


def _bound(steps: Sequence[Step]) -> BoundBy | None:
    bounds = {s.bound for s in steps}
    if None in bounds:
        return None
    return bounds.pop() if len(bounds) == 1 else "mixed"


def _same(values: set[int | None]) -> int | None:
    return values.pop() if len(values) == 1 else None
