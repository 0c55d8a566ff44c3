"""What is to be forecast, as the options say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from launchlens.errors import UsageError

if TYPE_CHECKING:
    from launchlens.forecast import KnownTime


ONE_GRAPH = "cudagraph"
"""The forecast of the whole step as one CUDA graph."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be forecast, as the options say."""

    break_at: str | None = None
    """Kernels or ranges at which graphs are broken, instead of attention."""
    without: tuple[str, ...] = ()
    """Rules whose calls are gone."""
    idle_host: float | None = None
    """What is left of the thread's work."""
    within: str | None = None
    """Ranges in which; None: in the whole step."""
    untraced: Mapping[str, KnownTime] = field(default_factory=dict)
    """Untraced times by phase, where they were measured."""
    given: Mapping[str | None, float] = field(default_factory=dict)
    """Untraced times in ms that were given by hand, by phase; None: of the one phase there is."""
    only: str | None = None
    """The one variant wanted."""
    constants: Path | None = None
    """Costs measured on this machine."""


def compile_regex(text: str, option: str) -> re.Pattern[str]:
    """A regular expression of an option's.

    Raises:
        UsageError: it is none.
    """
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"{option} {text!r} is not a regular expression: {error}.") from error
