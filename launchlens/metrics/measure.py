"""Every figure of every step of a trace: from columns to `Step` records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from launchlens.calls.classing import Calls
from launchlens.metrics.beside import Beside
from launchlens.metrics.bound import what_bounds
from launchlens.metrics.certainty import settle
from launchlens.metrics.figures import figures
from launchlens.metrics.idle import DeviceTime
from launchlens.metrics.reasons import unknown_reason
from launchlens.metrics.step_ops import Owned
from launchlens.metrics.step_rows import StepRows
from launchlens.metrics.steps import StepRange
from launchlens.records.columns import IntColumn, Trace
from launchlens.records.figures import Step
from launchlens.records.metric import Flaw


@dataclass(frozen=True, slots=True)
class MeasuredSteps:
    """Steps of a trace with everything that later tables are drawn from.

    ``steps[i]`` belongs to row ``i`` of ``owned``; ``windowed`` lists the rows that have a
    window, in the order of ``device_time``'s rows.
    """

    steps: tuple[Step, ...]
    owned: Owned
    calls: Calls
    windowed: IntColumn
    device_time: DeviceTime
    beside: Beside
    flaws: tuple[frozenset[Flaw], ...]


def measure_steps(trace: Trace, ranges: Sequence[StepRange]) -> MeasuredSteps:
    """All figures of all steps (docs/definitions.md), one `Step` for each (step, device)."""
    m = StepRows(trace, ranges)
    columns = {name: compute(m) for name, compute in figures().items()}
    flaws = settle(m, columns)
    columns["unknown_reason"] = [unknown_reason(m, row, own) for row, own in enumerate(flaws)]
    steps = []
    for row, index in enumerate(m.owned.step.tolist()):
        values = {name: column[row] for name, column in columns.items()}
        tracing, device = m.graph_tracing[row], int(m.owned.device[row])
        source = ranges[index]
        steps.append(
            Step(
                index=index,
                range=source.text,
                domain=source.domain,
                engine=source.engine,
                phase=source.phase,
                pid=trace.processes[source.process].pid,
                tid=trace.threads[source.thread].tid,
                device=trace.devices[device].device_id if device >= 0 else None,
                start_ns=source.start_ns,
                end_ns=source.end_ns,
                tokens=source.tokens,
                graph_tracing=tracing if trace.has_api else None,
                bound=what_bounds(values["idle"], values["gaps_ns"], values["bounds"]),
                **values,
            )
        )
    return MeasuredSteps(
        tuple(steps), m.owned, m.calls, m.windowed, m.device_time, m.beside, tuple(flaws)
    )
