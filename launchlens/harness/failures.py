"""Turns an exception into what a report shows: first line, source line, hint."""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from launchlens.capture_errors import find_error
from launchlens.protocol.facts import VariantFailure
from launchlens.protocol.step import StepPhase

MAX_STACK = 40


@dataclass(frozen=True, slots=True)
class Location:
    """A line of Python: its file's name and path, line number and function."""

    path: str
    line: int
    function: str

    @property
    def source(self) -> str:
        """File name and line, for example ``modeling_gemma3n.py:1727``."""
        return f"{Path(self.path).name}:{self.line}"


def describe_failure(error: BaseException, *, phase: StepPhase | None = None) -> VariantFailure:
    """Describes the first error of a chain.

    Ending a broken capture raises a second error (901) over the first, so the oldest context
    is the cause worth showing.

    Returns:
        The failure; ``source`` is the innermost line outside torch and this harness.
    """
    cause = _first_cause(error)
    kind = type(cause).__name__
    frames = [
        Location(frame.filename, frame.lineno or 0, frame.name)
        for frame in reversed(traceback.extract_tb(cause.__traceback__))
    ]
    return VariantFailure(
        error_type=kind,
        error_line=_first_words(cause) or kind,
        **place_of(fold_frames(frames)),
        hint=getattr(cause, "hint", None) or find_hint(f"{kind}: {cause}"),
        traceback="".join(traceback.format_exception(error))[-20_000:],
        phase=phase,
    )


def find_hint(text: str) -> str | None:
    """What a capture error's text means and what helps; None for a text not known."""
    error = find_error(text)
    return error.hint if error is not None else None


def fold_frames(frames: Iterable[Location]) -> list[Location]:
    """Leaves out frames of torch, the standard library and this harness, keeping the order."""
    return [frame for frame in frames if not _is_plumbing(frame.path)]


def place_of(frames: Sequence[Location]) -> dict[str, Any]:
    """Where something happened, as the protocol's records name it; frames innermost first."""
    own = frames[0] if frames else None
    return {
        "source": own.source if own else None,
        "path": own.path if own else None,
        "line": own.line if own else None,
        "function": own.function if own else None,
        "stack": tuple(f"{f.path}:{f.line} {f.function}" for f in frames[:MAX_STACK]),
    }


def current_frames(skip: int = 1) -> Iterator[tuple[Location, FrameType]]:
    """The caller's frames, innermost first, with their frame objects."""
    frame: FrameType | None = sys._getframe(skip)  # the documented cheap way
    while frame is not None:
        code = frame.f_code
        yield Location(code.co_filename, frame.f_lineno, code.co_name), frame
        frame = frame.f_back


def first_line(error: BaseException) -> str:
    """An error's class and the first line of what it says."""
    words = _first_words(error)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _first_words(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0].strip()


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the error is torch running out of GPU memory."""
    return type(error).__name__ == "OutOfMemoryError" or "out of memory" in str(error).lower()


def _first_cause(error: BaseException) -> BaseException:
    """The error worth showing: follows explicit causes, and from an end of capture to its start."""
    seen: set[int] = set()
    while id(error) not in seen:
        seen.add(id(error))
        if error.__cause__ is not None:
            error = error.__cause__
        elif error.__context__ is not None and _ended_capture(error):
            error = error.__context__
    return error


def _ended_capture(error: BaseException) -> bool:
    """Whether an error was raised while leaving a capture that an earlier error had broken."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].name in {"__exit__", "capture_end", "_end_segment"}


@cache
def _plumbing_roots() -> tuple[str, ...]:
    roots = [str(Path(__file__).resolve().parent)]
    for name in ("torch", "breakable_cuda_graphs", "nvtx"):
        found = importlib.util.find_spec(name)
        if found is not None and found.origin:
            path = Path(found.origin).resolve()
            roots.append(str(path.parent if path.name == "__init__.py" else path))
    return tuple(roots)


@cache
def _is_plumbing(path: str) -> bool:
    if path.startswith("<"):
        return True
    resolved = str(Path(path).resolve())
    if resolved.startswith(_plumbing_roots()):
        return True
    stdlib = sysconfig.get_paths()["stdlib"]
    return resolved.startswith(stdlib) and "site-packages" not in resolved
