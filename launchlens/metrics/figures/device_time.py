"""Device side: the window, how long the GPU is busy in it, and where its idle time goes."""

from __future__ import annotations

from dataclasses import fields

from launchlens.metrics.figures import Column, figure
from launchlens.metrics.step_rows import StepRows
from launchlens.records.columns import IntColumn
from launchlens.records.figures import Gaps


@figure
def window_ns(m: StepRows) -> Column:
    """From the range's start to the later of its end and the last own operation's end."""
    return m.spread(m.windows.end_ns - m.windows.start_ns)


@figure
def idle(m: StepRows) -> Column:
    """Part of the window in which the device ran nothing."""
    return m.spread(_idle(m.device_time.busy_ns, m.windows.end_ns - m.windows.start_ns))


@figure
def idle_kernels_only(m: StepRows) -> Column:
    """The same, copies and memsets taken for idle."""
    return m.spread(_idle(m.device_time.kernel_busy_ns, m.windows.end_ns - m.windows.start_ns))


@figure
def idle_projected(m: StepRows) -> Column:
    """Idle part between the first and the last own operation."""
    return m.spread(_idle(m.device_time.projected_busy_ns, _projected(m)))


@figure
def busy_ns(m: StepRows) -> Column:
    """Union of all operations on the device, clipped to the window."""
    return m.spread(m.device_time.busy_ns)


@figure
def kernel_busy_ns(m: StepRows) -> Column:
    """The same, kernels and graph spans alone."""
    return m.spread(m.device_time.kernel_busy_ns)


@figure
def projected_ns(m: StepRows) -> Column:
    """First own operation's start to last own operation's end."""
    return m.spread(_projected(m))


@figure
def lead_in_ns(m: StepRows) -> Column:
    """Range start to first own operation's start."""
    return m.spread(m.windows.first_own_ns - m.windows.start_ns)


@figure
def tail_ns(m: StepRows) -> Column:
    """Last own operation's end to range end; negative where the host ran ahead."""
    return m.spread(m.range_end_ns - m.last_own_ns)


@figure
def gaps_ns(m: StepRows) -> Column:
    """Idle time of the window by cause."""
    causes = m.device_time.gaps.by_cause(m.windowed.size)
    columns = [causes[f.name].tolist() for f in fields(Gaps)]
    return m.spread([Gaps(*row) for row in zip(*columns, strict=True)])


def _projected(m: StepRows) -> IntColumn:
    return m.last_own_ns - m.windows.first_own_ns


def _idle(busy: IntColumn, length: IntColumn) -> Column:
    """Idle fractions; None where the window is empty."""
    pairs = zip(busy.tolist(), length.tolist(), strict=True)
    return [1 - used / whole if whole else None for used, whole in pairs]
