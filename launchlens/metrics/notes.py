"""What a reader must know before trusting a trace's figures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from launchlens.calls import LITTLE_BESIDE, CallKind
from launchlens.catalogue import by_name, step_metrics
from launchlens.metrics.measure import MeasuredSteps
from launchlens.metrics.overlap import overlap_notes
from launchlens.plural import counted
from launchlens.records.columns import Trace
from launchlens.records.figures import Group, Step
from launchlens.records.metric import Flaw

_MOST_NAMES = 5


def find_losses(trace: Trace, measured: MeasuredSteps) -> tuple[str, ...]:
    """What the recorder says of lost events, where it bears on the steps."""
    flaws = zip(measured.steps, measured.flaws, strict=True)
    doubted = {step.pid for step, own in flaws if Flaw.LOSSES in own}
    said = [d for d in trace.info.diagnostics if d.loss and any(map(d.is_about, doubted))]
    return tuple(
        f"the recorder says: {d.text} Every count is a lower bound, and so is busy time."
        for d in said
    )


def find_notes(
    trace: Trace, measured: MeasuredSteps, groups: Sequence[Group], empty: int
) -> Iterable[str]:
    """What a reader must know before trusting the figures, in sentences.

    ``empty`` ranges were named as steps and hold none.
    """
    steps = measured.steps
    if empty:
        yield (
            f"left out: {counted(empty, 'range')} that would be steps, but without a request, a "
            "length, or a CUDA call."
        )
    yield from _odd_calls(trace, measured)
    yield from _short_rows(steps)
    rows_of = defaultdict(list)
    for row, step in enumerate(steps):
        rows_of[step.phase, step.pid, step.device].append(row)
    for group in groups:
        rows = rows_of[group.phase, group.pid, group.device]
        if outlier := _first_step_stands_out([steps[row] for row in rows], group):
            yield outlier
        if others := _other_threads(trace, measured, group, rows):
            yield others
    yield from overlap_notes(steps, groups)
    yield from _hidden_beside(trace, measured, groups)


def _short_rows(steps: Sequence[Step]) -> Iterable[str]:
    """Calls that leave a GPU row each, and did not."""
    for metric in step_metrics():
        if metric.submitted_by is None:
            continue
        lost = [
            n
            for s in steps
            if s.graph_tracing == "none"
            and (rows := s.figure(metric.name)) is not None
            and (n := (s.figure(metric.submitted_by) or 0) - rows) > 0
        ]
        if lost:
            calls = by_name()[metric.submitted_by].title
            yield (
                f"{calls} that left no work in the trace: {sum(lost)} in "
                f"{counted(len(lost), 'step')}; they did nothing, or events were dropped."
            )


def _hidden_beside(trace: Trace, measured: MeasuredSteps, groups: Sequence[Group]) -> Iterable[str]:
    """Launches without work in the trace, where other steps of the process have figures."""
    calls = measured.calls
    known = {g.pid for g in groups if g.metrics["window_ns"].median is not None}
    lost = np.flatnonzero(calls.lost)
    in_steps = np.unique(measured.owned.calls.within(lost).expand()[0])
    for kind, rows in (
        ("graph", np.flatnonzero(calls.hidden)),
        ("kernel", np.delete(lost, in_steps)),
    ):
        for number, count in sorted(Counter(trace.api.process[rows].tolist()).items()):
            pid = trace.processes[number].pid
            if pid in known:
                number_of = counted(count, f"{kind} launch", f"{kind} launches")
                yield (
                    f"process {pid}: {number_of} in other steps, or outside of steps, left no "
                    "work in the trace; a step that ran at the same time kept the GPU busier than "
                    "shown."
                )


def _odd_calls(trace: Trace, measured: MeasuredSteps) -> Iterable[str]:
    """Calls whose names say nothing of what they did."""
    steps, calls = measured.steps, measured.calls
    odd = np.flatnonzero(calls.unnamed | calls.unlisted)
    own = odd[np.unique(measured.owned.calls.within(odd).expand()[0])]
    short = [s for s in steps if s.lost_launches and s.kernels is not None]
    if lost := sum(s.lost_launches or 0 for s in short):
        with_loss = len({s.index for s in short})
        yield (
            f"{counted(lost, 'kernel launch', 'kernel launches')} in {counted(with_loss, 'step')} "
            "have no kernel row: events were dropped, or the recording ended first. Busy time is "
            "too low and idle too high there."
        )
    unnamed = own[calls.unnamed[own]]
    if unnamed.size:
        launched = int((calls.kind[unnamed] != CallKind.UNNAMED).sum())
        known = f", but for {launched} that have work of their own: launches" if launched else ""
        yield (
            f"{counted(unnamed.size, 'CUDA call')} of the steps have no name in the trace, so "
            f"their kind is unknown{known}. Counts of calls are lower bounds."
        )
    unlisted = own[calls.unlisted[own]]
    if unlisted.size:
        names = Counter(trace.api.names[i] for i in trace.api.name[unlisted].tolist())
        listed = ", ".join(f"{name} ×{n}" for name, n in names.most_common(_MOST_NAMES))
        yield (
            f"{counted(unlisted.size, 'call')} of the steps launched kernels, under names that "
            f"launchlens does not know as launches ({listed}): launches are lower bounds."
        )


def _other_threads(
    trace: Trace, measured: MeasuredSteps, group: Group, rows: Sequence[int]
) -> str | None:
    """Work of other threads during a group's steps, where it is more than a little."""
    own = sum(measured.steps[row].submissions or 0 for row in rows)
    by_thread = {t: int(n[rows].sum()) for t, n in measured.beside.by_thread.items()}
    threads = {trace.threads[t].tid: n for t, n in by_thread.items() if n}
    others = sum(threads.values())
    if others <= LITTLE_BESIDE * own:
        return None
    each = others / len(rows)
    who = ", ".join(f"{tid} (×{n})" for tid, n in Counter(threads).most_common(_MOST_NAMES))
    return (
        f"process {group.pid}: threads other than the step's made {each:.0f} launches and copies "
        f"during each {group.phase} step: {who}. They are not counted; --whole counts the calls of "
        "all threads."
    )


def _first_step_stands_out(steps: Sequence[Step], group: Group) -> str | None:
    """A remark on a group whose first step that counts is far longer than the others."""
    windows = [s.window_ns for s in steps[group.dropped :] if s.window_ns is not None]
    if group.metrics["window_ns"].unknown or len(windows) < 4:
        return None
    rest = float(np.median(windows[1:]))
    if windows[0] < 1.5 * rest:
        return None
    return (
        f"the first {group.phase} step took {windows[0] / rest:.1f}× as long as the others "
        f"(median); --skip {group.dropped + 1} leaves it out."
    )
