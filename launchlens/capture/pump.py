"""A program's output on its way to where it would have gone, with a copy in a log."""

from __future__ import annotations

import contextlib
import os
import select
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

MOST_BYTES = 64 * 1024**2
"""Of a program's output the log keeps as much from its beginning."""
LAST_BYTES = 1024**2
"""And as much of its end."""
_CHUNK = 1 << 16


class Pump:
    """Two named pipes for standard output and error, read until `close`.

    A reader of ours that has gone, or a full disk, never stops the program: its output is read on
    and dropped there. The log of a program that writes gigabytes holds its beginning and its end.

    Args:
        folder: where the pipes are made.
        log: takes both streams, as they come.
        targets: file descriptors that standard output and standard error go on to.
    """

    def __init__(self, folder: Path, log: Path, targets: Sequence[int]) -> None:
        self.paths = tuple(folder / name for name in ("out", "err"))
        self._log = log
        self._targets = list(targets)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="output", daemon=True)

    def __enter__(self) -> Self:
        for path in self.paths:
            os.mkfifo(path)
        # Open for writing too, so that a moment without writers is no end of the stream.
        self._pipes = [os.open(path, os.O_RDWR | os.O_NONBLOCK) for path in self.paths]
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()
        for pipe, path in zip(self._pipes, self.paths, strict=True):
            os.close(pipe)
            path.unlink(missing_ok=True)

    def _run(self) -> None:
        log = _Log(self._log)
        gone: set[int] = set()
        while True:
            ready, _, _ = select.select(self._pipes, [], [], 0.1)
            if not ready and self._ended.is_set():
                break
            for pipe in ready:
                with contextlib.suppress(BlockingIOError):
                    data = os.read(pipe, _CHUNK)
                    log.write(data)
                    target = self._targets[self._pipes.index(pipe)]
                    if target not in gone and not _write_all(target, data):
                        gone.add(target)
        log.close()


def _write_all(target: int, data: bytes) -> bool:
    """Whether the target took everything."""
    while data:
        try:
            data = data[os.write(target, data) :]
        except BlockingIOError:
            select.select([], [target], [], 1.0)
        except OSError:
            return False
    return True


class _Log:
    """The beginning of what is written, and its end."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._left = MOST_BYTES
        self._last: deque[bytes] = deque()
        self._kept = self._dropped = 0

    def write(self, data: bytes) -> None:
        head, rest = data[: self._left], data[self._left :]
        if head:
            self._left -= len(head)
            with contextlib.suppress(OSError):  # a full disk ends the copy, not the program
                self._file.write(head)
                self._file.flush()
        if rest:
            self._last.append(rest)
            self._kept += len(rest)
            while self._kept - len(self._last[0]) > LAST_BYTES:
                self._dropped += len(self._last[0])
                self._kept -= len(self._last.popleft())

    def close(self) -> None:
        with contextlib.suppress(OSError):
            if self._dropped:
                said = f"\n[launchlens: {self._dropped} bytes of output are left out here]\n"
                self._file.write(said.encode())
            self._file.writelines(self._last)
            self._file.close()
