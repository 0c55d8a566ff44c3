"""Turns an exception into what a report shows: first line, source line, hint."""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
import traceback
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from launchlens.protocol.facts import VariantFailure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType

    from launchlens.protocol.step import StepPhase

MAX_STACK = 40

# (part of the error text, what it means and what helps). The first match wins, so the
# special comes before the general. Texts as torch 2.7 to 2.13 and CUDA 12 and 13 write them.
_HINTS: tuple[tuple[str, str], ...] = (
    (
        "cannot copy between cpu and cuda tensors during cuda graph capture",
        "A copy between CPU and GPU is in the step: keep the value in a registered buffer, build "
        "it on the GPU (torch.full), or use a Python scalar.",
    ),
    (
        "current_seed during cuda graph capture",
        "A random generator is read in the step: leave dropout and seeding out of it.",
    ),
    (
        "offset increment outside graph capture",
        "A random generator was used outside the capture it is registered with: draw random "
        "numbers outside the step, or register the generator with the graph.",
    ),
    (
        "the cuda graph is empty",
        "The captured code launched nothing on the capturing stream: check that it works on the "
        "current stream.",
    ),
    (
        "attention layer is not registered",
        "The engine never registered this attention layer for capture, so the step stays eager.",
    ),
    (
        "data-dependent",
        "The step's control flow depends on a tensor's value: keep the decision on the GPU or "
        "leave that part out of the graph.",
    ),
    (
        "nonzero is not supported for meta",
        "The number of selected elements depends on data: use a mask of fixed shape.",
    ),
    (
        "unjoined work",
        "Work on a side stream was not joined to the capturing stream before the capture ended.",
    ),
    (
        "cudaerrorstreamcaptureunjoined",
        "Work on a side stream was not joined to the capturing stream before the capture ended.",
    ),
    (
        "dependency created on uncaptured work",
        "The step waits for work that was recorded before the capture began (isolation).",
    ),
    (
        "legacy stream",
        "The step uses the legacy default stream while another stream is capturing: put all work "
        "on one stream.",
    ),
    (
        "would make the legacy stream depend on a capturing",
        "The step uses the legacy default stream while another stream is capturing.",
    ),
    ("merge", "Two captures were merged: one stream must not join the capture of another."),
    (
        "operation not permitted when stream is capturing",
        "The step synchronizes, allocates or queries an event while capturing (900): find .item(), "
        "a copy to the CPU, nonzero, or another thread's CUDA calls.",
    ),
    (
        "operation failed due to a previous error during capture",
        "An earlier call ended the capture (901): the first error of the step is the cause.",
    ),
    (
        "out of memory",
        "The GPU has too little free memory: fewer layers, a smaller batch or another dtype helps.",
    ),
)


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

    Args:
        error: what the variant raised.
        phase: prefill or decode, when known.

    Returns:
        The failure; ``source`` is the innermost line outside torch and this harness.
    """
    cause = _first_cause(error)
    frames = [
        Location(frame.filename, frame.lineno or 0, frame.name)
        for frame in reversed(traceback.extract_tb(cause.__traceback__))
    ]
    folded = fold_frames(frames)
    own = folded[0] if folded else None
    lines = str(cause).strip().splitlines()
    return VariantFailure(
        error_type=type(cause).__name__,
        error_line=lines[0].strip() if lines else type(cause).__name__,
        source=own.source if own else None,
        path=own.path if own else None,
        line=own.line if own else None,
        function=own.function if own else None,
        stack=tuple(f"{frame.path}:{frame.line} {frame.function}" for frame in folded[:MAX_STACK]),
        hint=getattr(cause, "hint", None) or find_hint(f"{type(cause).__name__}: {cause}"),
        traceback="".join(traceback.format_exception(error))[-20_000:],
        phase=phase,
    )


def find_hint(text: str) -> str | None:
    """What a capture error's text means and what helps; None for a text not known."""
    lowered = text.lower()
    return next((hint for part, hint in _HINTS if part in lowered), None)


def fold_frames(frames: Iterable[Location]) -> list[Location]:
    """Leaves out frames of torch, the standard library and this harness.

    Args:
        frames: innermost first.

    Returns:
        The rest, innermost first: the model's own line comes first.
    """
    return [frame for frame in frames if not _is_plumbing(frame.path)]


def current_frames(skip: int = 1) -> Iterator[tuple[Location, FrameType]]:
    """The caller's frames, innermost first, with their frame objects."""
    frame: FrameType | None = sys._getframe(skip)  # the documented cheap way
    while frame is not None:
        code = frame.f_code
        yield Location(code.co_filename, frame.f_lineno, code.co_name), frame
        frame = frame.f_back


def first_line(error: BaseException) -> str:
    """An error's class and the first line of what it says."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0].strip()}" if lines else type(error).__name__


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
