"""Events written as a begin and an end (``ph`` B and E), which Kineto never does and others may."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from launchlens.trace.formats.kineto.shapes import as_time


class Pairs:
    """Begins and ends of all threads; an end closes the latest open begin of its thread."""

    def __init__(self) -> None:
        self._by_thread: dict[tuple[str, str], list[tuple[Decimal, dict[str, Any]]]] = defaultdict(
            list
        )
        self.strays = 0
        """Ends that close nothing, known once all are joined."""

    def add(self, event: dict[str, Any]) -> None:
        """Keep a begin or an end; one without a time has no place in the order, and is left out."""
        time = as_time(event.get("ts"))
        if not math.isnan(time):
            key = str(event.get("pid")), str(event.get("tid"))
            self._by_thread[key].append((Decimal(time), event))

    def joined(self) -> Iterator[dict[str, Any]]:
        """Complete events; what never ends has no ``dur``."""
        for events in self._by_thread.values():
            open_events: list[tuple[Decimal, dict[str, Any]]] = []
            for time, event in sorted(events, key=lambda one: one[0]):
                if event["ph"] == "B":
                    open_events.append((time, event))
                elif open_events:
                    begin, first = open_events.pop()
                    args = [e.get("args") for e in (first, event)]
                    merged = {k: v for own in args if isinstance(own, dict) for k, v in own.items()}
                    yield {**first, "args": merged, "dur": time - begin}
                else:
                    self.strays += 1
            yield from (first | {"dur": None} for _, first in open_events)
