"""Turns at the GPU: who measures is alone, who only builds a model may go beside other builders.

Two profiles started on one machine would otherwise lengthen each other's steps. The turn is an
advisory lock on a file in the temporary folder, one for each user and visible-devices setting;
the system releases it when a process ends, however it ends.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

_NOTABLE_WAIT_S = 1.0


@contextlib.contextmanager
def take_turn(kind: Literal["measure", "build"], device: str, notes: list[str]) -> Iterator[None]:
    """Holds a turn: "measure" alone, "build" together with other builders; none on a CPU.

    ``notes`` gets a sentence when others had to be waited for. Where the file cannot be opened (a
    full or read-only temporary folder) work goes on without.
    """
    lock = _open_lock() if device == "cuda" else None
    if lock is None:
        yield
        return
    import fcntl

    begun = time.monotonic()
    try:
        fcntl.flock(lock, fcntl.LOCK_EX if kind == "measure" else fcntl.LOCK_SH)
        waited = time.monotonic() - begun
        if kind == "measure" and waited > _NOTABLE_WAIT_S:
            notes.append(f"Waited {waited:.0f} s for another launchlens process on this GPU.")
        yield
    finally:
        os.close(lock)


def _open_lock() -> int | None:
    visible = "".join(c if c.isalnum() else "-" for c in os.environ.get("CUDA_VISIBLE_DEVICES", ""))
    path = Path(tempfile.gettempdir()) / f"launchlens-{os.getuid()}-gpu{visible[:40]}.lock"
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return None
