"""One step laid out in time, for pictures and for Perfetto."""

from __future__ import annotations

from dataclasses import dataclass

from launchlens.records.metric import Bound


@dataclass(frozen=True, slots=True)
class Span:
    """A bar on a timeline. ``start_ns`` counts from the step's start.

    ``correlation_id`` joins what belongs together within a timeline: a call, the operations that it
    submitted, and the gaps that ended with the first of them; None where that is not known.
    ``name`` is one of the traced program, and ``prefix`` what is said before it: of a gap "idle
    before ", so that the name can be shortened alone.
    """

    name: str
    start_ns: int
    duration_ns: int
    kind: str
    correlation_id: int | None = None
    prefix: str = ""

    @property
    def title(self) -> str:
        """What it is called where there is room for the whole name."""
        return self.prefix + self.name


@dataclass(frozen=True, slots=True)
class Lane:
    """Bars of one row: a host thread's calls, a stream's operations, or the device's gaps.

    ``role`` is "host", "range", "stream" or "gap"; in a gap lane ``kind`` is the gap's cause,
    in a stream lane kernel, memcpy, memset or graph, in a host lane the class of the call.
    """

    title: str
    role: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """One representative step of a side (the step whose window is the median one).

    ``bound``: what the window is, where rows were lost.
    """

    side: str
    step: int
    range: str
    phase: str
    window_ns: int
    lanes: tuple[Lane, ...]
    bound: Bound | None = None
