"""Typed events as columns: exact nanoseconds, texts as numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from launchlens.records.columns import IntColumn
from launchlens.trace.formats.kineto.pieces import InexactTimeError
from launchlens.trace.formats.kineto.text import clean

NO_TIME = np.iinfo(np.int64).min
USUAL = ("start", "end", "pid", "tid", "name")
_EXACT_BELOW_US = 2.0**43
"""Floats below it are less than a nanosecond apart, so that the nearest nanosecond is the one that
was written: 101 days after ``baseTimeNanoseconds``. Before torch 2.4 times counted from 1970."""
_LATEST_US = 2**62 // 1000
Part = dict[str, npt.NDArray[np.signedinteger[Any]]]


class Texts(dict[str, int]):
    """Numbers texts by the order of their first sight."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number

    def cleaned(self) -> tuple[str, ...]:
        """All texts, in order, fit for any document."""
        return tuple(map(clean, self))


@dataclass(slots=True)
class Table:
    """Columns of one kind of event, in parts of one piece each; ``names`` is what they share."""

    empty: tuple[str, ...] = USUAL
    """Names of the columns, for when there is no event."""
    names: Texts = field(default_factory=Texts)
    parts: list[Part] = field(default_factory=list)

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """Whole columns, each of shape (events,). Parts are freed as they are joined."""
        if not self.parts:
            self.parts = [dict.fromkeys(self.empty, np.empty(0, np.int64))]
        names = list(self.parts[0])
        return {name: np.concatenate([part.pop(name) for part in self.parts]) for name in names}


def event_columns(rows: list[Any], names: Texts, *, exact: bool) -> Part:
    """What all events have: start and end, process and thread, and the name's number.

    Raises:
        InexactTimeError: see `nanoseconds`.
    """
    start = nanoseconds([e.ts for e in rows], exact=exact)
    length = nanoseconds([e.dur for e in rows], exact=exact)
    unknown = (start == NO_TIME) | (length == NO_TIME)
    return {
        "start": start,
        "end": np.where(unknown, NO_TIME, start + length),
        "pid": np.array([e.pid for e in rows], np.int64),
        "tid": np.array([e.tid for e in rows], np.int64),
        "name": np.array([names[e.name] for e in rows], np.int32),
    }


def nanoseconds(times: Sequence[float | Decimal], *, exact: bool) -> IntColumn:
    """Times in microseconds as nanoseconds; shape (times,).

    Args:
        times: floats, none of them NaN.
        exact: they are decimals, or NaN, which becomes `NO_TIME`.

    Raises:
        InexactTimeError: floats so large that they are more than a nanosecond apart.
    """
    if exact:
        return np.array([_exactly(time) for time in times], np.int64)
    us = np.array(times, np.float64)
    if (np.abs(us) >= _EXACT_BELOW_US).any():
        raise InexactTimeError
    ns: IntColumn = np.rint(us * 1000).astype(np.int64)
    return ns


def _exactly(time: float | Decimal) -> int:
    if math.isnan(time) or abs(Decimal(time)) > _LATEST_US:
        return NO_TIME
    return int((Decimal(time) * 1000).to_integral_value())
