"""``launchlens buckets``: sizes of steps and measured curves become sizes to capture."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from launchlens.errors import LaunchlensError, UsageError, reason_of
from launchlens.records.buckets import BucketChoice, CaptureSizes, EngineOption
from launchlens.text_files import read_text_file
from launchlens.workflow.load import Choices, load

if TYPE_CHECKING:
    from launchlens.forecast.buckets import Choice, Curves, Limits

MATTERS = 0.01
"""Part of the time of all steps below which a default is fine."""
_COLUMNS = ("size", "captured_ms", "eager_ms")
_MORE = ("memory_mib", "capture_s")


def choose_buckets(
    counts: Mapping[int, int], curves: Curves, limits: Limits, beside: Sequence[int] | None
) -> BucketChoice:
    """The best sizes beside given ones, or beside an engine's default.

    Raises:
        LaunchlensError: a size lies outside of the curves.
    """
    from launchlens.forecast.buckets import choose, cost_of
    from launchlens.forecast.capture_options import capture_options

    known = next(o for o in capture_options() if o.default is not None)
    assert known.default is not None
    sizes = list(beside) if beside else known.default(curves.sizes[-1])
    name = "the given choice" if beside else f"the default of {known.engine}"
    best, other = choose(counts, curves, limits), cost_of(sizes, counts, curves)
    saved = 1 - best.step_ns / other.step_ns if other.step_ns else 0.0
    return BucketChoice(
        steps=sum(counts.values()),
        sizes=len(counts),
        best=_record("best", best),
        beside=_record(name, other),
        saved=saved,
        worth_it=abs(saved) >= MATTERS,
        options=tuple(EngineOption(o.engine, o.write(best.sizes)) for o in capture_options()),
    )


def _record(name: str, choice: Choice) -> CaptureSizes:
    return CaptureSizes(name, choice.sizes, choice.step_ns, choice.memory_bytes, choice.capture_ns)


def read_sizes(path: Path, choices: Choices) -> Counter[int]:
    """Steps of each size: from a CSV file of ``size,count``, or from the texts of a trace's ranges.

    Raises:
        LaunchlensError: it cannot be read, or tells no sizes.
    """
    if path.suffix.lower() == ".csv":
        counts: Counter[int] = Counter()
        for row in _rows(path, ("size", "count")):
            counts[_whole(path, row, "size")] += _whole(path, row, "count")
        return counts
    steps = load(path, choices).analysis.steps
    found = Counter(s.tokens for s in steps if s.tokens)
    if not found:
        raise LaunchlensError(
            f"{path}: the ranges of its steps tell no numbers of tokens.",
            hint="Give a CSV file with the columns size,count.",
        )
    return Counter({size: n for size, n in found.items() if size is not None})


def read_curves(path: Path) -> Curves:
    """Measured points: a CSV file of ``size,captured_ms,eager_ms[,memory_mib][,capture_s]``.

    Raises:
        LaunchlensError: it cannot be read, or lacks a column.
    """
    from launchlens.forecast.buckets import Curves, Point

    return Curves(
        [
            Point(
                _whole(path, row, "size"),
                _number(path, row, "captured_ms") * 1e6,
                _number(path, row, "eager_ms") * 1e6,
                _number(path, row, "memory_mib") * (1 << 20) if row.get("memory_mib") else 0.0,
                _number(path, row, "capture_s") * 1e9 if row.get("capture_s") else 0.0,
            )
            for row in _rows(path, _COLUMNS)
        ]
    )


def parse_sizes(text: str | None) -> list[int] | None:
    """``1,2,4`` of an option.

    Raises:
        UsageError: no whole numbers from 1 on.
    """
    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and 0 < int(word) < 1e9 for word in words):
        raise UsageError(f"--beside {text!r} is no list of sizes.", hint="For example 1,2,4,8,16.")
    return sorted({int(word) for word in words})


def _rows(path: Path, needed: Sequence[str]) -> list[dict[str, str]]:
    try:
        rows = list(csv.DictReader(read_text_file(path).splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        said = reason_of(error) if isinstance(error, OSError) else str(error)
        raise LaunchlensError(f"{path} cannot be read: {said}.") from error
    if not rows or any(name not in rows[0] for name in needed):
        raise LaunchlensError(f"{path} needs rows with the columns {','.join(needed)}.")
    return rows


def _number(path: Path, row: Mapping[str, str], name: str) -> float:
    try:
        number = float(row[name])
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number < 1e12:
        raise LaunchlensError(f"{path}: {name} is {row[name]!r}, which is no such number.")
    return number


def _whole(path: Path, row: Mapping[str, str], name: str) -> int:
    number = _number(path, row, name)
    if number < 1 or number != int(number):
        raise LaunchlensError(f"{path}: {name} is {row[name]!r}, not a whole number from 1 on.")
    return int(number)
