"""JSON text of any size, seen through a window that grows until a value fits into it."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from io import BufferedReader
from typing import Any

from launchlens.errors import TraceError
from launchlens.trace.interface import TraceFile

_WINDOW_BYTES = 1 << 20
_LONGEST_BYTES = 1 << 26
_NO_LETTER = re.compile("[\ud800-\udfff]")
_BLANK = " \t\n\r"


def _no_number(_word: str) -> float:
    """NaN and Infinity are not JSON, but C++ writes them: a number that is not known."""
    return math.nan


# `strict=False`: Kineto has written control characters into names. Numbers with a point stay exact.
_DECODER = json.JSONDecoder(strict=False, parse_float=Decimal, parse_constant=_no_number)


class JsonText:
    """A file's JSON from some byte on, value by value, as correct as it is slow.

    ``at`` is the offset in bytes of what comes next.
    """

    def __init__(self, source: BufferedReader, file: TraceFile, at: int = 0) -> None:
        self._source, self._file = source, file
        self._text, self._next, self._ended = "", 0, False
        self._known = 0, at

    @property
    def at(self) -> int:
        """Offset in bytes of what comes next."""
        letters, offset = self._known
        offset += len(self._text[letters : self._next].encode("utf-8", "surrogateescape"))
        self._known = self._next, offset
        return offset

    def peek(self) -> str:
        """The next letter that is not blank; empty at the end of the file."""
        while True:
            while self._next < len(self._text) and self._text[self._next] in _BLANK:
                self._next += 1
            if self._next < len(self._text):
                return self._text[self._next]
            if not self._grow():
                return ""

    def skip(self, letter: str) -> bool:
        """Pass over the next letter that is not blank, if it is this one."""
        if self.peek() != letter:
            return False
        self._next += 1
        return True

    def expect(self, letter: str) -> None:
        """Pass over a letter that has to come next.

        Raises:
            TraceError: another one does, or none.
        """
        if not self.skip(letter):
            raise self.broken(f"{letter!r} is expected")

    def value(self) -> Any:
        """The next value; numbers with a point are `Decimal`.

        Raises:
            TraceError: there is none, it is not JSON, or it is nested without end.
        """
        self.peek()
        while True:
            try:
                found, end = _DECODER.raw_decode(self._text, self._next)
            except RecursionError:
                raise self.broken("values are nested too deeply") from None
            except ValueError as error:
                if not self._grow():
                    said = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
                    raise self.broken(said[0].lower() + said[1:]) from None
            else:
                # A number at the end of the window may go on behind it.
                if end < len(self._text) or not self._grow():
                    self._next = end
                    return found

    def broken(self, why: str) -> TraceError:
        """What is said where text is no JSON: why, or that the file ends too early."""
        if self._ended and (not self.peek() or not self._text.rstrip().endswith("}")):
            return TraceError(
                f"{self._file.named} ends in the middle: the profiler was stopped while it wrote "
                f"the trace, or the copy is incomplete ({self.at:,} bytes could be read).",
                hint="Copy it again, or record it again and let the program finish.",
            )
        return TraceError(
            f"{self._file.named} is no JSON from byte {self.at:,} on: {why}.",
            hint="Copy it again, or record it again.",
        )

    def _grow(self) -> bool:
        """Let the window reach further; False at the end of the file."""
        if self._ended:
            return False
        begin = self.at
        had = self._text[self._next :].encode("utf-8", "surrogateescape")
        if len(had) > _LONGEST_BYTES:
            raise TraceError(
                f"{self._file.named} holds a value of more than {_LONGEST_BYTES >> 20} MiB from "
                f"byte {begin:,} on, or is no JSON from there on."
            )
        wanted = max(_WINDOW_BYTES, 2 * len(had))
        self._source.seek(begin)
        raw = self._source.read(wanted)
        self._ended = len(raw) < wanted
        self._next, self._known = 0, (0, begin)
        # Half a letter at the end stays escaped until the window reaches further.
        self._text = raw.decode("utf-8", "surrogateescape")
        return True


def clean(text: str) -> str:
    """A text that any document can hold: what is no letter becomes a replacement character."""
    return _NO_LETTER.sub("\ufffd", text)
