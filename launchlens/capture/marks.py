"""The mark by which processes are found again: a variable that all that a child starts inherits.

It is random and says nothing about the machine, as traces keep the environment of what they record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psutil import Process

MARK = "LAUNCHLENS_CHILD"


def marked_processes(mark: str) -> list[Process]:
    """Processes whose mark begins so; zombies have no environment and are left out."""
    import psutil

    found = psutil.process_iter(["environ"])  # None where it ended meanwhile or is another user's
    return [p for p in found if (p.info["environ"] or {}).get(MARK, "").startswith(mark)]
