"""What an engine's log says of its graphs: captured sizes, and why steps were not captured."""

from __future__ import annotations

import re
from pathlib import Path

from launchlens.errors import UsageError, reason_of
from launchlens.records.figures import PHASES, EngineLog, LogReason
from launchlens.records.recipes import Recipe

_MOST_BYTES = 64 * 1024**2
_MOST_LINE = 20_000
_MOST_REASON = 300
_NUMBER = re.compile(r"\d+")


def read_engine_log(file: Path, recipe: Recipe) -> EngineLog:
    """What the log of a run says, by the recipe's patterns; each line is told once.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        with file.open("rb") as opened:
            text = opened.read(_MOST_BYTES).decode(errors="replace")
    except OSError as error:
        raise UsageError(f"The log {file} cannot be read: {reason_of(error)}.") from error
    return parse_engine_log(text, recipe)


def parse_engine_log(text: str, recipe: Recipe) -> EngineLog:
    """The same of a log's text."""
    patterns = [(re.compile(line.pattern), line) for line in recipe.log]
    sizes: dict[str, tuple[int, ...]] = {}
    reasons: dict[str, LogReason] = {}
    for line in re.split(r"[\r\n]+", text):
        for pattern, told in patterns:
            match = pattern.search(line[:_MOST_LINE])
            if match is None:
                continue
            listed = match.groupdict().get("sizes")
            if listed is not None:
                found = tuple(sorted({int(n) for n in _NUMBER.findall(listed)} - {0}))
                sizes |= dict.fromkeys(told.phases or PHASES, found)
                continue
            said = match[0].strip()[:_MOST_REASON].rstrip(".")
            reasons.setdefault(said, LogReason(said, told.phases, told.remedy or None))
    return EngineLog(recipe.title, sizes, tuple(reasons.values()))
