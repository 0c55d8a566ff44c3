"""Host side: what the step's thread submits, and what it waits for or allocates."""

from __future__ import annotations

from functools import partial

from launchlens.calls import CallKind
from launchlens.catalogue import step_metrics
from launchlens.metrics.figures import Column, figure, register
from launchlens.metrics.step_rows import StepRows


def _counted(m: StepRows, kinds: tuple[CallKind, ...]) -> Column:
    """Calls of some kinds that were not captured."""
    return m.host(m.count_kinds(*kinds))


# A metric whose entry names kinds of call is the number of these calls.
for metric in step_metrics():
    if metric.calls:
        register(metric.name, partial(_counted, kinds=tuple(map(CallKind.named, metric.calls))))


@figure
def hidden_graph_launches(m: StepRows) -> Column:
    """Graph launches that have neither node rows nor a whole-graph row."""
    return m.host(m.hidden)


@figure
def captured_calls(m: StepRows) -> Column:
    """Calls that submitted nothing because their stream was being captured."""
    return m.host(m.count(m.calls.captured))


@figure
def lost_launches(m: StepRows) -> Column:
    """Kernel launches that succeeded, and of whose work there is no row."""
    return m.host(m.count(m.calls.lost))


@figure
def step_launches(m: StepRows) -> Column:
    """Launches of the step, wherever they ran."""
    return m.host(m.step_launches)


@figure
def failed_calls(m: StepRows) -> Column:
    """Calls that returned an error."""
    return m.host(m.count(m.calls.failed))


@figure
def unnamed_calls(m: StepRows) -> Column:
    """Calls whose name the trace does not tell."""
    return m.host(m.count(m.calls.unnamed))


@figure
def unlisted_launches(m: StepRows) -> Column:
    """Calls with a kernel, though they are in no list of launches."""
    return m.host(m.count(m.calls.unlisted))


@figure
def other_thread_submissions(m: StepRows) -> Column:
    """Launches, copies and memsets of the process's other threads within the range."""
    return m.host(m.beside.total)


@figure
def cpu_ns(m: StepRows) -> Column:
    """Length of the range."""
    lengths = [r.end_ns - r.start_ns for r in m.ranges]
    return [lengths[step] for step in m.owned.step.tolist()]
