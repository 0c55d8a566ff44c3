"""How values become text. The only place where milliseconds and per cent exist.

Builders and formats take their words from here, so that a figure reads the same in every report.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from launchlens.records.figures import GapBin, Verdict
from launchlens.records.metric import Bound
from launchlens.report.cells import Cell, Interval, Judged, Name, Number, Value

UNKNOWN = "unknown"
MINUS = "\N{MINUS SIGN}"
IDLE_BASIS = (
    "GPU idle: part of the step's window in which no kernel, copy or memset runs, unless a row "
    "says otherwise."
)
"""Window and operation set of an idle fraction: never printed without."""
LONG = 400
"""Characters of a sentence that may hold foreign text."""
_LONGEST_NAME = 160
_FRAMES = 6
_BOUND_WORDS: dict[str, str] = {
    "launch-bound": "CPU-bound",
    "gpu-bound": "GPU-bound",
    "sync-bound": "bound by synchronization",
    "mixed": "bound by several causes",
}
_PYTHON = re.compile(r"\.py:\d")
_FOLDERS = re.compile(r"\S*/(?=[^/\s]+:\d)")
BOUND_SIGNS: dict[Bound | None, str] = {"lower": "≥ ", "upper": "≤ "}


def format_value(number: Number | None, unit: str, bound: Bound | None = None) -> str:
    """A number with its unit (count, ns, fraction, bytes or per_s), marked where it is a bound."""
    if number is None:
        return UNKNOWN
    return BOUND_SIGNS.get(bound, "") + _format_known(number, unit)


def _format_known(number: Number, unit: str) -> str:
    if unit == "ns":
        return format_ns(number)
    if unit == "fraction":
        return f"{signed(100 * number, '.1f')}%"
    if unit == "bytes":
        return _format_bytes(number)
    if unit == "per_s":
        return f"{digits(number)}/s"
    return f"{number:.0f}" if float(number).is_integer() else _format_mean(number)


def _format_mean(number: Number) -> str:
    """A number of something on average; what is rare is not 0.0."""
    return signed(number, ".1f" if abs(number) >= 0.05 else ".1g")


def format_ns(number: Number) -> str:
    """A time in the unit that keeps three digits readable: ns, µs, ms or s."""
    return " ".join(_in_unit(number))


def format_within(number: Number, low: Number, high: Number) -> str:
    """A time and its interval, a unit that they share said once: "13.1 ms (12.9 to 13.4)"."""
    times = [_in_unit(one) for one in (number, low, high)]
    alike = len({unit for _, unit in times}) == 1
    said, left, right = (n if alike and i else f"{n} {unit}" for i, (n, unit) in enumerate(times))
    return f"{said} ({left} to {right})"


def _in_unit(ns: Number) -> tuple[str, str]:
    """A time's number and its unit."""
    size = abs(ns)
    for bound, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if size >= bound * 0.9995:
            return digits(ns / bound), unit
    return signed(ns, ".0f"), "ns"


def _format_bytes(number: Number) -> str:
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if abs(number) >= 1 << power:
            return f"{digits(number / (1 << power))} {unit}"
    return f"{signed(number, '.0f')} B"


def signed(number: float, spec: str) -> str:
    """A number with a real minus sign."""
    text = format(number, spec)
    return text.replace("-", MINUS) if float(text) else text.lstrip("-")


def plus(number: float, spec: str) -> str:
    """A number with a sign in either direction."""
    return ("+" if number > 0 else "") + signed(number, spec)


def digits(number: float) -> str:
    """Three digits of a number."""
    size = abs(number)
    return signed(number, ".2f" if size < 9.995 else ".1f" if size < 999.5 else ".0f")


def difference(change: Number, unit: str) -> str:
    """A change in its metric's unit; of fractions in percentage points."""
    if unit == "fraction":
        return f"{plus(100 * change, '.1f')} pp"
    return ("+" if change > 0 else "") + format_value(change, unit)


# Values of a document -------------------------------------------------------------------------


def value(figure: Value) -> str:
    """A value with its unit; bounds are marked as such, and what stands in a figure's place."""
    if figure.number is None and figure.instead:
        return figure.instead
    return format_value(figure.number, figure.unit, figure.bound)


def arrow(before: Value, after: Value) -> str:
    """Two values, a unit that they share said once: "72.0 → 14.3 ms"."""
    left, right = value(before), value(after)
    if before.unit == after.unit == "ns" and None not in (before.number, after.number):
        (number, unit), (_, other) = _in_unit(before.number or 0), _in_unit(after.number or 0)
        left = BOUND_SIGNS.get(before.bound, "") + number if unit == other else left
    return f"{left} → {right}"


def sentence(text: str) -> str:
    """Text as a sentence: its first letter large, a full stop at its end."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def interval(figure: Value | Interval) -> str:
    """A confidence interval, or nothing where there is none; of a bound only the end it has."""
    low, high, unit = figure.low, figure.high, figure.unit
    if low is None or high is None:
        return ""
    if figure.bound:
        return format_value(low if figure.bound == "lower" else high, unit, figure.bound)
    ends = [format_value(low, unit), format_value(high, unit)]
    return ends[0] if low == high else " to ".join(ends)


def verdict(given: Verdict) -> str:
    """The word for a verdict; nothing where there is none, as of figures not comparable."""
    return "" if given in ("neutral", "incomparable") else given


def bound_words(bound: str | None) -> str:
    """What a step is bound by (`BoundBy`), to stand behind "is"."""
    return _BOUND_WORDS.get(bound or "", bound or UNKNOWN)


def cell(content: Cell, limit: int = _LONGEST_NAME) -> str:
    """A cell of a table as text on one line."""
    if isinstance(content, Judged):
        return value(content.value)
    if isinstance(content, Value):
        return value(content)
    if isinstance(content, Interval):
        return interval(content)
    if isinstance(content, Name):
        return f"{content.mark} {plain(content.text, limit)}".lstrip()
    return plain(content, limit)


def short_stack(stack: Sequence[str]) -> str:
    """The first frames; of native ones alone the outermost too, which names the operator."""
    shown = list(stack[:_FRAMES])
    if len(stack) > _FRAMES and not _PYTHON.search(stack[0]):
        shown = [*stack[: _FRAMES // 2], "…", *stack[-_FRAMES // 2 :]]
    return " ← ".join(_FOLDERS.sub("", frame) for frame in shown)


def gap_bin_label(gap: GapBin) -> str:
    """Name of a class of gap length, as in "< 2 µs" or "2-5 µs"."""
    low = gap.from_ns // 1000
    if gap.below_ns is None:
        return f"> {low} µs"
    high = gap.below_ns // 1000
    return f"{low}-{high} µs" if low else f"< {high} µs"


# Foreign text ---------------------------------------------------------------------------------


def plain(text: str, limit: int = _LONGEST_NAME) -> str:
    """Foreign text on one line: no control characters, no newlines, shortened in the middle."""
    cleaned = " ".join(clean(text).split())
    if len(cleaned) <= limit:
        return cleaned
    head = (limit - 1) * 2 // 3
    return f"{cleaned[:head]}…{cleaned[-(limit - 1 - head) :]}"


def clean(text: str) -> str:
    """Foreign text with nothing in it that a terminal or a browser obeys, such as bidi marks.

    Whitespace of any kind becomes spaces; control and format characters, and what is no character,
    become U+FFFD.
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def joined(values: Sequence[str]) -> str:
    """Values joined by "vs", or just one where all are alike."""
    return values[0] if len(set(values)) == 1 else " vs ".join(values)


def step_words(phase: str) -> str:
    """A step by its phase; "step" alone where that is unknown."""
    return "step" if phase == "unknown" else f"{phase} step"
