"""What was run, and on what, in a few words: what stands under a report's title."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from launchlens.records.comparison import Comparison, Side
from launchlens.records.figures import TraceInfo
from launchlens.report.words import plain

_FACTS: tuple[tuple[str, Callable[[Side], object]], ...] = (
    ("{}", lambda side: side.facts.model),
    ("{}", lambda side: side.facts.shortened),
    ("ISL {}", lambda side: side.facts.isl),
    ("OSL {}", lambda side: side.facts.osl),
    ("batch {}", lambda side: side.facts.batch),
    ("{}", lambda side: side.facts.dtype),
    ("{} weights", lambda side: side.facts.weights),
)


def about_comparison(comparison: Comparison) -> tuple[str, ...]:
    """Model, shape, dtype and GPU; where the sides differ every value, what is unknown nothing."""
    sides = comparison.sides
    told = [(words, [tell(side) for side in sides]) for words, tell in _FACTS]
    told.append(("{}", [side.trace.gpu if side.trace else None for side in sides]))
    return tuple(_said(told))


def about_trace(trace: TraceInfo) -> tuple[str, ...]:
    """The GPU and what recorded it."""
    recorder = f"{trace.format} {trace.nsys_version}" if trace.nsys_version else None
    return tuple(_said([("{}", [trace.gpu]), ("{}", [recorder])]))


def _said(told: Iterable[tuple[str, Sequence[object]]]) -> Iterable[str]:
    for words, values in told:
        known = dict.fromkeys(plain(str(value)) for value in values if value is not None)
        if known:
            yield words.format(" / ".join(known))
