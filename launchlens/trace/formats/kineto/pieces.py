"""The events of a trace, piece by piece: parsed fast into typed structs where they allow it.

A piece ends where one event ends and the next begins, as far as bytes tell: ``}``, a comma, ``{``.
Such a place may as well lie within an event. But a comma cuts an array of JSON into two arrays of
JSON only where it stands between elements: anywhere else one half has an open bracket or an open
text. So a piece that parses was cut rightly, and one that does not is read event by event.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import IO, Any, Protocol

import msgspec

from launchlens.trace.formats.kineto.text import JsonText
from launchlens.trace.interface import TraceFile

_PIECE_BYTES = 2 << 20
_TAIL_BYTES = 1 << 16
_MOST_CATEGORIES = 64  # torch knows some thirty
_BETWEEN = re.compile(rb"\}\s*(,)\s*\{")


class InexactTimeError(Exception):
    """Times are so large that floats would lose nanoseconds."""


class Sink(Protocol):
    """What is made of events."""

    kept: tuple[Any, ...]
    """Structs of the events that it needs, generic in the type of their times."""

    def add(self, events: list[Any]) -> None:
        """Take the events of a piece, all or, where it raises, none of them.

        Raises:
            InexactTimeError: these are floats and have to be decimals.
            OverflowError: a number is beyond any id.
        """

    def add_odd(self, event: Any) -> None:
        """Take a decoded event of any shape."""


class Parser:
    """Parses pieces; learns the categories that it meets."""

    def __init__(self, kept: tuple[Any, ...], time: type[float | Decimal]) -> None:
        self._kept = {kind.__struct_config__.tag: kind[time] for kind in kept}
        self._skipped: dict[str, Any] = {}
        self._decoder = self._made()

    def parse(self, piece: bytes) -> list[Any]:
        """The events of a piece.

        Raises:
            msgspec.MsgspecError: it is no JSON, or has events of another shape.
            RecursionError: it is nested too deeply.
        """
        return self._decoder.decode(piece)

    def learn(self, event: Any) -> None:
        """Skip events of the category of this one from now on, unless they are needed."""
        category = event.get("cat") if isinstance(event, dict) else None
        if not isinstance(category, str) or not category.isascii():
            return
        if category in self._kept | self._skipped or len(self._skipped) >= _MOST_CATEGORIES:
            return
        self._skipped[category] = msgspec.defstruct(
            "Skipped", [], tag=category, tag_field="cat", gc=False
        )
        self._decoder = self._made()

    def _made(self) -> msgspec.json.Decoder[list[Any]]:
        event_type: Any = reduce(or_, [*self._kept.values(), *self._skipped.values()])
        return msgspec.json.Decoder(list[event_type])


def read_events(source: IO[bytes], file: TraceFile, at: int, sink: Sink) -> int:
    """Hand over the events of the array whose first one begins at a byte; what is behind its end.

    Raises:
        TraceError: it is no JSON, or the file ends too early.
    """
    parser = Parser(sink.kept, float)
    while True:
        source.seek(at)
        block = source.read(_PIECE_BYTES)
        is_last = len(block) < _PIECE_BYTES
        if is_last:
            end = block.rfind(b"]")
        else:
            cuts = [m.start(1) for m in _BETWEEN.finditer(block, len(block) - _TAIL_BYTES)]
            end = cuts[-1] if cuts else -1
        try:
            if end < 0:
                raise msgspec.DecodeError
            sink.add(parser.parse(b"[" + block[:end] + b"]"))
        except InexactTimeError:
            parser = Parser(sink.kept, Decimal)
        except (msgspec.MsgspecError, RecursionError, OverflowError):
            for event, behind in _one_by_one(source, file, at, at + max(end, 0)):
                if event is None:
                    return behind
                sink.add_odd(event)
                parser.learn(event)
                at = behind
        else:
            at += end + 1
            if is_last:
                return at


def _one_by_one(
    source: IO[bytes], file: TraceFile, at: int, until: int
) -> Iterator[tuple[Any, int]]:
    """Events from a byte on, each with the offset behind its comma, until that passes ``until``.

    The end of the array is None, with the offset behind its bracket.
    """
    text = JsonText(source, file, at)
    while True:
        if text.skip("]"):
            yield None, text.at
            return
        event = text.value()
        if text.peek() != "]":
            text.expect(",")
        yield event if event is not None else {}, text.at
        if text.at >= until:
            return
