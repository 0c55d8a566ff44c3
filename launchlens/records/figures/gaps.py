"""Idle time by cause: each cause is a metric."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from launchlens.records.metric import Metric

_WORTH_A_ROW = 0.01
_gap = partial(
    Metric,
    unit="ns",
    better="less",
    judged=False,
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
            "idle: before first operation",
            shown="usual",
            least_share=_WORTH_A_ROW,
            cause="the first operation",
            speaks_for="launch-bound",
            legend="before the step's first operation",
        ),
    ]
    """Idle before the step's first own operation."""
    host: Annotated[
        int,
        _gap(
            "idle: Python, framework",
            shown="headline",
            lacking_calls="upper",
            cause="Python and framework code",
            speaks_for="launch-bound",
            legend="the CPU was in Python or framework code",
        ),
    ]
    """Idle while the CPU was busy elsewhere, before the call that ends the gap."""
    launch: Annotated[
        int,
        _gap(
            "idle: launch latency",
            shown="headline",
            lacking_calls="upper",
            cause="launch latency",
            speaks_for="launch-bound",
            legend="from the launch call to the kernel's start",
        ),
    ]
    """Idle from that call's start on: the launch's own latency."""
    sync: Annotated[
        int,
        _gap(
            "idle: synchronization",
            shown="headline",
            lacking_calls="lower",
            cause="synchronization",
            speaks_for="sync-bound",
            legend="inside a synchronize call or a blocking copy",
        ),
    ]
    """Idle while the step's thread was inside a synchronize call or a blocking copy."""
    device: Annotated[
        int,
        _gap(
            "idle: between operations",
            shown="headline",
            under_spans="lower",
            cause="queued operations to start",
            legend="the next operation was already queued",
        ),
    ]
    """Idle although the next operation was submitted in time."""
    tail: Annotated[
        int,
        _gap(
            "idle: after last operation",
            shown="usual",
            least_share=_WORTH_A_ROW,
            legend="after the device's last operation",
        ),
    ]
    """Idle after the device's last operation in the window."""
    unlinked: Annotated[
        int,
        _gap(
            "idle: call not recorded",
            shown="usual",
            least_share=_WORTH_A_ROW,
            legend="before an operation whose call is not in the trace",
        ),
    ]
    """Idle before an operation that has no API row."""
