"""What was seen inside one step: operators that copy or wait, and attempts to capture it."""

from __future__ import annotations

from typing import Literal

from pydantic.dataclasses import dataclass

from launchlens.protocol.checked import STRICT
from launchlens.protocol.replay import ReplayCheck

StepPhase = Literal["prefill", "decode"]
PreparedKind = Literal["eager", "captured", "compiled", "custom"]
"""What a variant made of a phase's step; custom: a user's own function knows."""
CopyKind = Literal["htod", "dtoh", "sync"]
"""A copy to the GPU; a copy from it, and a wait unless pinned and non-blocking; a wait alone."""
StopCode = Literal["first-failure", "no-copy-known", "still-fails", "context-broken"]
"""Why no further capture was tried: none was wanted; no copy is known at the failing line, so
there is nothing to patch over; the line fails although it is patched over; the failed capture
broke the CUDA context, and only a new process can go on.
"""


@dataclass(frozen=True, slots=True, config=STRICT)
class _AtLine:
    source: str | None
    """The model's own line, "file.py:12": the innermost frame outside torch."""
    path: str | None
    """The file's full path."""
    line: int | None
    """The line."""
    function: str | None
    """The function."""


@dataclass(frozen=True, slots=True, config=STRICT)
class CopyEvent(_AtLine):
    """One operator that copies between host and device, or makes the host wait."""

    op: str
    """The operator, for example ``aten._to_copy`` or ``torch.tensor``."""
    kind: CopyKind
    """What it does."""
    bytes: int | None
    """Bytes copied; None where the operator does not tell."""
    dtype: str | None
    """Dtype of what is copied."""
    shape: tuple[int, ...] | None
    """Shape of what is copied."""
    pinned: bool | None
    """Whether the host side is page-locked; None where nothing is copied."""
    non_blocking: bool
    """Whether the caller asked for an asynchronous copy."""
    module: str | None
    """Qualified name of the innermost module on the stack."""
    stack: tuple[str, ...]
    """"path:line function", innermost first, torch's frames left out."""
    phase: StepPhase | None = None
    """Phase of the step."""


@dataclass(frozen=True, slots=True, config=STRICT)
class BlockerMet(_AtLine):
    """A line at which a capture failed, and what the eager step does there."""

    order: int
    """The n-th failure, from 1."""
    kind: CopyKind | None
    """What the first operator at that line does; None where none is known."""
    op: str | None
    """That operator."""
    bytes: int | None
    """Bytes it copies."""
    count: int | None
    """Operators at that line in one step."""
    error_type: str
    """Class of the error."""
    error_line: str
    """Its first line."""
    hint: str | None
    """What usually helps."""


@dataclass(frozen=True, slots=True, config=STRICT)
class ClearedLine:
    """A line that copies or waits in the eager step and did not block the capture."""

    source: str
    """The model's own line, "file.py:12"."""
    kind: CopyKind
    """What the operators there do."""
    bytes: int | None
    """Bytes of each."""
    count: int
    """How many they are in one step."""
    seen_while_capturing: bool
    """Whether the capture came to that line at all."""


@dataclass(frozen=True, slots=True, config=STRICT)
class Attempt:
    """Does a step capture as one CUDA graph, and if not, what stands in its way, in order."""

    captured: bool
    """Whether it captured in the end, with ``patched_sources`` patched over."""
    blockers: tuple[BlockerMet, ...]
    """Failures in the order capture met them."""
    patched_sources: tuple[str, ...]
    """Lines whose copies were replaced by values kept on the GPU."""
    cleared: tuple[ClearedLine, ...] | None
    """Lines that did not block; None unless captured."""
    events: tuple[CopyEvent, ...]
    """Operators of the eager step, in order."""
    stopped: str | None
    """Why it ended without a capture, in words."""
    stop_code: StopCode | None = None
    """The same as a code."""
    replay: ReplayCheck | None = None
    """Whether replays are right; None unless captured."""
