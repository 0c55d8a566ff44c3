"""A rule, and what it finds: occurrences as columns, before they are grouped into findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal

import numpy as np

from launchlens.blockers.view import Mask, Rows, View
from launchlens.calls import CallKind

if TYPE_CHECKING:
    from launchlens.protocol.replay import ReplayVerdict
    from launchlens.protocol.step import CopyEvent, CopyKind

Direction = Literal["htod", "dtoh", "sync", "query"]
"""What an operator of a program can be told by: a copy to or from the GPU, a wait, a query."""
DIRECTIONS = {
    "htod": ("HtoD", "host-to-device copy"),
    "dtoh": ("DtoH", "device-to-host copy"),
    "sync": (None, "synchronization"),
}
"""Short name (for copies) and words."""


@dataclass(frozen=True, slots=True)
class Hits:
    """Occurrences of one rule and one kind in the steps of a view."""

    kinds: str
    """What the occurrences are ("HtoD pageable", "cudaMalloc")."""
    step: Rows
    """Step of each occurrence, shape (n,)."""
    row: Rows
    """Its API row; for copies the copy call, shape (n,)."""
    host_ns: Rows
    """How long the thread sat in it, shape (n,)."""
    idle_ns: Rows
    """GPU idle until the work submitted next began, shape (n,); -1 not known."""
    bytes: Rows
    """Bytes copied, shape (n,); -1 where nothing is copied."""
    confidence: Literal["suspected", "likely"] = "likely"
    """How sure the trace alone makes."""
    note: str | None = None
    """What the reader should know of these occurrences."""
    direction: Direction | None = None
    """What the operator behind them does; None where operators do not tell."""
    memory: str | None = None
    """Kind of the host memory of copies ("pageable")."""
    timed: bool = True
    """False where host and idle time are not the step's own: another thread's calls, and
    occurrences that stand for the whole step."""
    silent: bool | None = None
    """As `Rule.silent`, where these occurrences differ from the rule's."""
    errors: tuple[str, ...] | None = None
    """As `Rule.errors`, where these occurrences differ from the rule's."""
    on_replay: str | None = None
    """Of silent ones: what goes wrong, in a sentence."""
    remedy: str | None = None
    """As `Rule.remedy`, where these occurrences differ from the rule's."""

    def of(self, chosen: Mask) -> Hits:
        """Those of the occurrences that are chosen, shape (n,)."""
        columns = ("step", "row", "host_ns", "idle_ns", "bytes")
        return replace(self, **{name: getattr(self, name)[chosen] for name in columns})


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: what it is, how it finds, and what answers to it. Its module documents it."""

    id: str
    rank: int
    """Of findings alike, and of several rules that an error may mean, the lower comes first."""
    strength: str
    """How surely it blocks, in words."""
    remedy: str
    title: Callable[[Hits, int | None], str] = lambda hits, _size: hits.kinds
    """Words for occurrences, of so many bytes each."""
    find: Callable[[View], list[Hits]] = lambda _view: []
    """Occurrences in a trace; none for what no trace shows."""
    calls: str | None = None
    """Base names of calls that are its own, as a pattern: no other rule reports them."""
    doc: str = field(repr=False, default="")
    """The docstring of its module: what, why, example, remedy, references."""
    silent: bool = False
    """It stops no capture, but replays may go wrong."""
    copies: bool = False
    """What it finds are copies that hold up the host."""
    whole_step: bool = False
    """A finding speaks of the whole step: how often it occurs is not stable by its nature."""
    errors: tuple[str, ...] = ()
    """Names of the capture errors (`launchlens.capture_errors`) that may mean it, those that tell
    it best first."""
    operators: tuple[CopyKind, ...] = ()
    """Kinds of operator that mean it where a capture attempt fails at one."""
    replays: ReplayVerdict | None = None
    """Verdict of a replay check that means it."""
    on_replay: str = ""
    """What such replays do, with "replays" in front of it."""
    fails_as: tuple[CallKind, ...] = ()
    """Kinds of call that mean it where one fails in a capture."""
    suspects: Callable[[CopyEvent], bool] | None = None
    """Whether an operator alone, without a trace, makes one suspect it."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where in a program an occurrence comes from: a source line and the stack above it.

    ``file`` is the source file's name, None when only native frames are known. Lines of one
    ``function`` become one finding. ``stack``: frames in words, innermost first.
    """

    file: str | None
    line: int | None
    function: str | None
    stack: tuple[str, ...]

    @classmethod
    def of(
        cls, path: str | None, line: int | None, function: str | None, stack: Sequence[str]
    ) -> Origin:
        """An origin from a file's path; frames ("path:12 function") keep the file's name alone."""
        known = path is not None and line is not None
        file = PurePath(path).name if path is not None and known else None
        return cls(file, line if known else None, function, tuple(map(_short_frame, stack)))

    @property
    def key(self) -> tuple[str | None, ...]:
        """What findings are told apart by: file and function, else both ends of the stack.

        The innermost native frame is the same for all reads of a number; the outermost is the
        operator that Python called.
        """
        if self.file:
            return self.file, self.function
        return (None, *self.stack[:1], *self.stack[-1:])


def source_text(file: str | None, lines: Sequence[int]) -> str | None:
    """File and lines for readers: "modeling_gemma3n.py:1727/1764"."""
    return f"{file}:{'/'.join(map(str, lines))}" if file and lines else None


def call_hits(
    view: View,
    rows: Rows,
    step: Rows,
    kinds: str,
    confidence: Literal["suspected", "likely"],
    note: str | None = None,
    *,
    direction: Direction | None = None,
    timed: bool = True,
    until: Rows | None = None,
) -> Hits:
    """API calls as hits, without bytes; ``until`` names later calls that end their waits."""
    api = view.trace.api
    last = rows if until is None else until
    inside = api.end_ns - api.start_ns
    return Hits(
        kinds=kinds,
        step=step,
        row=rows,
        host_ns=inside[rows] + np.where(last != rows, inside[last], 0),
        idle_ns=_idle_after(view, last, step, api.start_ns[rows]),
        bytes=np.full(rows.size, -1, np.int64),
        confidence=confidence,
        note=note,
        direction=direction,
        timed=timed,
    )


def _idle_after(view: View, rows: Rows, step: Rows, since_ns: Rows) -> Rows:
    """GPU idle ended by the work submitted next after each call.

    The gap in front of that work on its device, counted from the moment the wait began at the
    earliest. 0 when the GPU had other work throughout, -1 when nothing was submitted afterwards.
    """
    following = view.next_submission(rows, step)
    op = np.where(following >= 0, view.op_of_call[np.maximum(following, 0)], -1)
    start = view.trace.ops.start_ns
    if start.size == 0:
        return np.full(rows.size, -1, np.int64)
    safe = np.maximum(op, 0)
    gap = start[safe] - np.maximum(view.busy_before[safe], since_ns)
    return np.where(op >= 0, np.maximum(gap, 0), -1)


def _short_frame(frame: str) -> str:
    head, _, function = frame.partition(" ")
    path, _, line = head.rpartition(":")
    return f"{PurePath(path).name}:{line} {function}".strip() if path else frame
