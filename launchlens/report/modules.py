"""Launches by module, counted on the step that a timeline shows."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

from launchlens.records.timeline import Span, Timeline

PREFIX = "module:"
OUTSIDE = "outside any module"
_NUMBER = re.compile(r"(?<=\.)\d+(?=\.|$)")


def launches_by_module(timeline: Timeline) -> Counter[str] | None:
    """Launch calls by module; None when the step has no module range.

    Layers of a stack are counted together: ``layers.0.mlp`` and ``layers.1.mlp`` are
    ``layers.*.mlp``. A launch belongs to the innermost module it was made in.
    """
    modules = sorted(
        (
            span
            for lane in timeline.lanes
            if lane.role == "range"
            for span in lane.spans
            if span.name.startswith(PREFIX)
        ),
        key=lambda span: (span.start_ns, -span.duration_ns),
    )
    if not modules:
        return None
    starts, owners = _innermost(modules)
    counts: Counter[str] = Counter()
    for lane in timeline.lanes:
        for span in lane.spans if lane.role == "host" else ():
            if span.kind == "launch":
                at = bisect_right(starts, span.start_ns) - 1
                counts[owners[at] if at >= 0 else OUTSIDE] += 1
    return counts


def _innermost(modules: Sequence[Span]) -> tuple[list[int], list[str]]:
    """Instants at which the innermost module changes, and which one it is from then on."""
    starts: list[int] = []
    owners: list[str] = []
    open_spans: list[Span] = []

    def close_until(instant: float) -> None:
        while open_spans and open_spans[-1].start_ns + open_spans[-1].duration_ns <= instant:
            closed = open_spans.pop()
            starts.append(closed.start_ns + closed.duration_ns)
            owners.append(_title(open_spans[-1]) if open_spans else OUTSIDE)

    for span in modules:
        close_until(span.start_ns)
        open_spans.append(span)
        starts.append(span.start_ns)
        owners.append(_title(span))
    close_until(float("inf"))
    return starts, owners


def _title(span: Span) -> str:
    return _NUMBER.sub("*", span.name.removeprefix(PREFIX)) or "the model itself"
