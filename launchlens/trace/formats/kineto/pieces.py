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
from io import BufferedReader
from operator import or_
from typing import TYPE_CHECKING, Any

import msgspec

from launchlens.trace.formats.kineto.text import JsonText
from launchlens.trace.interface import TraceFile

if TYPE_CHECKING:
    from launchlens.trace.formats.kineto.sink import EventSink

_PIECE_BYTES = 1 << 19
_TAIL_BYTES = 1 << 16
_USUAL = (
    *("cpu_op", "python_function", "user_annotation", "cuda_runtime", "cuda_driver", "kernel"),
    *("gpu_memcpy", "gpu_memset", "gpu_user_annotation", "cuda_sync", "overhead", "ac2g", "fwdbwd"),
    *("cpu_instant_event", "Trace"),
)
"""Categories that traces usually have; others are learnt."""
_MOST_CATEGORIES = 64  # torch knows some thirty
_BETWEEN = re.compile(rb"\}\s*(,)\s*\{")


class InexactTimeError(Exception):
    """Times are so large that floats would lose nanoseconds."""


class Parser:
    """Parses pieces; learns the categories that it meets."""

    def __init__(self, kept: tuple[Any, ...], time: type[float | Decimal]) -> None:
        self._kept = {kind.__struct_config__.tag: kind[time] for kind in kept}
        self._skipped: dict[str, Any] = {}
        for category in _USUAL:
            if category not in self._kept:
                self._skip(category)
        self._decoder = self._made()

    def parse(self, piece: memoryview) -> list[Any]:
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
        self._skip(category)
        self._decoder = self._made()

    def _skip(self, category: str) -> None:
        self._skipped[category] = msgspec.defstruct(
            "Skipped", [], tag=category, tag_field="cat", gc=False
        )

    def _made(self) -> msgspec.json.Decoder[list[Any]]:
        event_type: Any = reduce(or_, [*self._kept.values(), *self._skipped.values()])
        return msgspec.json.Decoder(list[event_type])


def read_events(source: BufferedReader, file: TraceFile, at: int, sink: EventSink) -> int:
    """Hand over the events of the array whose first one begins at a byte; what is behind its end.

    Raises:
        TraceError: it is no JSON, or the file ends too early.
    """
    exact, parser = False, Parser(sink.kept, float)
    block = bytearray(b"[" + bytes(_PIECE_BYTES))  # one for all pieces, with room for a bracket
    while True:
        source.seek(at)
        size = source.readinto(memoryview(block)[1:])
        is_last = size < _PIECE_BYTES
        end = _end_of_piece(block, size, is_last=is_last)
        try:
            sink.add(parser.parse(_as_array(block, end)), exact=exact)
        except InexactTimeError:
            exact, parser = True, Parser(sink.kept, Decimal)
        except (msgspec.MsgspecError, RecursionError, OverflowError):
            for event, behind in _one_by_one(source, file, at, at + max(end - 1, 0)):
                if event is None:
                    return behind
                sink.add_odd(event)
                parser.learn(event)
                at = behind
        else:
            at += end
            if is_last:
                return at


def _end_of_piece(block: bytearray, size: int, *, is_last: bool) -> int:
    """Where the comma behind the last whole event stands, or the array's bracket; -1 for nowhere.

    ``block`` holds ``size`` bytes of events behind its first byte.
    """
    if is_last:
        return block.rfind(b"]", 1, size + 1)
    cuts = [m.start(1) for m in _BETWEEN.finditer(block, max(size - _TAIL_BYTES, 1), size + 1)]
    return cuts[-1] if cuts else -1


def _as_array(block: bytearray, end: int) -> memoryview:
    """The events up to a place as an array of JSON."""
    if end < 0:
        raise msgspec.DecodeError
    block[end] = ord("]")
    return memoryview(block)[: end + 1]


def _one_by_one(
    source: BufferedReader, file: TraceFile, at: int, until: int
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
