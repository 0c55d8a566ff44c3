"""What `launchlens doctor` finds on a machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CheckStatus = Literal["ok", "warn", "fail", "skip"]


@dataclass(frozen=True, slots=True)
class Check:
    """One check of the machine: a line of `launchlens doctor`."""

    name: str
    """What was looked at."""
    status: CheckStatus
    """`ok`; `warn`: works, but; `fail`: profiling will not work; `skip`: makes no sense here."""
    detail: str
    """What was found."""
    remedy: str = "nothing to do"
    """What to do about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """All checks of the machine: the JSON object of ``launchlens doctor --format json``."""

    schema: Literal["launchlens.doctor/1"] = "launchlens.doctor/1"
    """Name and version of this layout."""
    ready: bool
    """Whether profiling will work: no check failed."""
    checks: tuple[Check, ...]
    """The checks in the order in which they were made."""
