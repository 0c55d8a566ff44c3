"""What one check of the machine found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "warn", "fail", "skip"]


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `launchlens doctor`.

    Attributes:
        name: what was looked at.
        status: "ok"; "warn" (works, but); "fail" (profiling will not work); "skip" (not looked
            at, because it makes no sense here).
        detail: what was found.
        remedy: what to do; "nothing to do" where all is well.
    """

    name: str
    status: Status
    detail: str
    remedy: str = "nothing to do"
