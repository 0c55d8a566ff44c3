"""Idle time by cause: each cause is a metric."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from launchlens.records.metric import Metric

_gap = partial(
    Metric,
    unit="ns",
    better="less",
    of_window=True,
    of_clocks=True,
    lacking_operations="unknown",
)


@dataclass(frozen=True, slots=True)
class Gaps:
    """Idle time of a window by cause; the causes sum to the idle time exactly."""

    lead_in: Annotated[
        int,
        _gap(
            "idle in the lead-in",
            cause="in the lead-in",
            legend="before the step's first operation",
        ),
    ]
    """Idle before the step's first own operation."""
    host: Annotated[
        int,
        _gap(
            "idle waiting for the host",
            shown="headline",
            lacking_calls="upper",
            cause="for the host",
            legend="the CPU was busy elsewhere",
        ),
    ]
    """Idle while the CPU was busy elsewhere, before the call that ends the gap."""
    launch: Annotated[
        int,
        _gap(
            "idle during launches",
            shown="headline",
            lacking_calls="upper",
            cause="for launches",
            legend="latency of the launch itself",
        ),
    ]
    """Idle from that call's start on: the launch's own latency."""
    sync: Annotated[
        int,
        _gap(
            "idle in synchronization",
            shown="headline",
            lacking_calls="lower",
            cause="in synchronization",
            legend="inside a synchronize call or a blocking copy",
        ),
    ]
    """Idle while the step's thread was inside a synchronize call or a blocking copy."""
    device: Annotated[
        int,
        _gap(
            "idle on the device",
            shown="headline",
            under_spans="lower",
            cause="between operations on the device",
            legend="submitted in time, the GPU was not ready",
        ),
    ]
    """Idle although the next operation was submitted in time."""
    tail: Annotated[int, _gap("idle in the tail", legend="after the device's last operation")]
    """Idle after the device's last operation in the window."""
    unlinked: Annotated[int, _gap("idle, unlinked", legend="no API call recorded")]
    """Idle before an operation that has no API row."""
