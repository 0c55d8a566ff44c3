"""Call stacks of a trace, decoded: what `trace` hands to `blockers`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True, slots=True)
class ChainRow:
    """One native frame. ``depth`` 0 is the innermost frame of the chain."""

    chain_id: int
    depth: int
    symbol: str
    module: str | None


@dataclass(frozen=True, slots=True)
class PythonFrame:
    """A Python frame; ``line`` is None when only the file is known."""

    function: str
    file: str
    line: int | None

    @property
    def source(self) -> str:
        """File name and line."""
        name = PurePath(self.file).name
        return f"{name}:{self.line}" if self.line is not None else name


@dataclass(frozen=True, slots=True)
class PythonStack:
    """What one CUDA call came from, innermost first.

    ``start_ns`` equals the start of the API call it belongs to, on the thread whose `Thread.key` is
    ``thread_key``.
    """

    start_ns: int
    thread_key: int
    frames: tuple[PythonFrame, ...]
    operators: tuple[str, ...] = ()
    """The framework's operators that made it, where the recorder names them."""


@dataclass(frozen=True, slots=True)
class Stacks:
    """All call stacks of a trace. Empty when it was recorded without them.

    ``undecoded`` counts the calls whose Python frames could not be read; ``note`` says what to know
    of the others.
    """

    chains: tuple[ChainRow, ...] = ()
    python: tuple[PythonStack, ...] = ()
    undecoded: int = 0
    note: str | None = None
