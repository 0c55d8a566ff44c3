"""Events of a file sorted by their kinds; odd ones made regular."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from typing import Any, ClassVar

from launchlens.trace.formats.kineto.pairs import Pairs
from launchlens.trace.formats.kineto.shapes import shaped

_ODD_AT_ONCE = 10_000


class EventSink(ABC):
    """Takes the events of a file; `finish` must be called at its end."""

    kept: ClassVar[tuple[Any, ...]]
    """Structs of the events that it needs, generic in the type of their times."""

    def __init__(self) -> None:
        self.seen = 0
        """Events of any kind."""
        self._by_category = {kind.__struct_config__.tag: kind for kind in self.kept}
        self._pairs = Pairs()
        self._odd: list[Any] = []

    @abstractmethod
    def take(self, by_kind: dict[type, list[Any]], *, exact: bool) -> None:
        """Take events by their struct, all or, where it raises, none of them (see `add`)."""

    def take_metadata(self, event: dict[str, Any]) -> None:  # noqa: B027 (most need none)
        """Take an event that names a process or thread (``ph: M``)."""

    def add(self, events: list[Any], *, exact: bool) -> None:
        """Take the events of a piece, all or, where it raises, none of them.

        ``exact`` says that their times are decimals, not floats.

        Raises:
            InexactTimeError: they have to be decimals.
            OverflowError: a number is beyond any id.
        """
        by_kind: dict[type, list[Any]] = defaultdict(list)
        for event in events:
            by_kind[type(event)].append(event)
        self.take(by_kind, exact=exact)
        self.seen += len(events)

    def add_odd(self, event: Any) -> None:
        """Take a decoded event of any shape."""
        self.seen += 1
        phase = event.get("ph") if isinstance(event, dict) else None
        if phase == "M":
            self.take_metadata(event)
        elif phase in ("B", "E"):
            self._pairs.add(event)
        elif phase == "X":
            self._keep(event)
            if len(self._odd) >= _ODD_AT_ONCE:
                self._take_odd_ones()

    def finish(self) -> int:
        """Make events of those that were written as a begin and an end.

        Returns:
            The number of ends that close nothing.
        """
        for event in self._pairs.joined():
            self._keep(event)
        self._take_odd_ones()
        return self._pairs.strays

    def _keep(self, event: dict[str, Any]) -> None:
        shape = shaped(event, self._by_category)
        if shape is not None:
            self._odd.append(shape)

    def _take_odd_ones(self) -> None:
        by_kind: dict[type, list[Any]] = defaultdict(list)
        for event in self._odd:
            by_kind[type(event)].append(event)
        self.take(by_kind, exact=True)
        self._odd = []
