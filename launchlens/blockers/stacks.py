"""Call stacks of a trace, decoded, and the calls they belong to.

nsys writes native frames of synchronizing calls to CUDA_CALLCHAINS, found by the call's chain id,
and Python frames as NVTX marks whose start equals the call's start. Both may be missing for any
call. Python frames name the source line; native frames alone still name the operator.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from launchlens.blockers.calls import Role
from launchlens.blockers.grouping import Place
from launchlens.blockers.payload import Layouts, Value, decode_payload
from launchlens.blockers.view import Rows, View
from launchlens.model.stacks import ChainRow, MarkRow, Stacks

_MAX_FRAMES = 40
# Frames that say how a call came about, not where from: runtime, driver, tracing, interpreter.
_NATIVE_NOISE = re.compile(
    r"^(\[?0x|_?Py|_PyEval|PyObject|cuda[A-Z]|cu[A-Z]|cupti|InjectionTools|__libc|_start|main$)"
    r"|^(at::_ops::|c10::impl::|c10::Dispatcher|at::\(anonymous namespace\)::)|\[Unknown\]"
)
_NATIVE_MODULES = re.compile(r"libcuda\.so|libcudart|libcupti|libToolsInjection|/nsight-")
_TORCH_FILE = re.compile(r"(^|/)(torch|torchgen|functorch)/|<frozen|<string>|/importlib/")
_FRAME_TEXT = re.compile(r"(?P<file>[^\s():\"']+\.pyx?)[:\"'(, ]+(?:line )?(?P<line>\d+)")
_PRINTABLE = re.compile(rb"[\x20-\x7e]{3,}")


@dataclass(frozen=True, slots=True)
class PythonFrame:
    """A Python frame; the innermost comes first in a stack."""

    function: str
    file: str
    line: int | None

    @property
    def source(self) -> str:
        """File name and line."""
        name = PurePath(self.file).name
        return f"{name}:{self.line}" if self.line is not None else name


@dataclass(frozen=True, slots=True)
class CallStacks:
    """Decoded stacks: native frames by chain id, Python frames by (thread, start of the call).

    ``undecoded`` counts marks whose payload could not be read.
    """

    native: dict[int, tuple[str, ...]]
    python: dict[tuple[int, int], tuple[PythonFrame, ...]]
    undecoded: int


def decode_stacks(stacks: Stacks) -> CallStacks:
    """Decode the rows that `launchlens.trace.stacks.read_stacks` read."""
    layouts = Layouts.of(stacks.schemas, stacks.entries, stacks.strings)
    python: dict[tuple[int, int], tuple[PythonFrame, ...]] = {}
    undecoded = 0
    for mark in stacks.marks:
        frames = decode_mark(mark, layouts)
        if frames:
            python[mark.global_tid, mark.start_ns] = frames
        else:
            undecoded += 1
    return CallStacks(_native(stacks.chains), python, undecoded)


def decode_mark(mark: MarkRow, layouts: Layouts) -> tuple[PythonFrame, ...]:
    """Python frames of one mark, innermost first; empty when nothing can be read from it.

    First by the layout the trace describes; else from text lines of the form "file.py:12";
    else from what strings the payload holds, which gives files and functions without lines.
    """
    frames: list[PythonFrame] = []
    for value in decode_payload(mark.payload, layouts, mark.domain_id):
        frames.extend(_frames_in(value))
    if not frames and mark.text:
        frames.extend(_frames_in_text(mark.text))
    if not frames and mark.payload:
        texts = [m[0].decode("ascii") for m in _PRINTABLE.finditer(mark.payload)]
        frames.extend(_frames_in_text("\n".join(texts)) or _frames_in_strings(texts))
    return tuple(frames[:_MAX_FRAMES])


def place_calls(view: View, stacks: Stacks, rows: Sequence[Rows]) -> dict[int, Place]:
    """Where calls come from by the trace's own stacks.

    Args:
        view: the trace and its steps.
        stacks: the trace's stacks, undecoded.
        rows: API rows that are asked for. A copy has no stack of its own in some recordings: it
            takes that of the synchronize that follows it.

    Returns:
        A place for each row that has a stack.
    """
    decoded = decode_stacks(stacks)
    places: dict[int, Place] = {}
    for some in rows:
        following = view.next_telling(some)
        for row, after in zip(some.tolist(), following.tolist(), strict=True):
            place = _place(view, decoded, row)
            if place is None and after >= 0 and view.role[after] == Role.SYNC:
                place = _place(view, decoded, after)
            if place is not None:
                places[row] = place
    return places


def _place(view: View, decoded: CallStacks, row: int) -> Place | None:
    api = view.trace.api
    tid = view.trace.threads[int(api.thread[row])].global_tid
    python = decoded.python.get((tid, int(api.start_ns[row])), ())
    native = decoded.native.get(int(api.callchain_id[row]), ())
    if not python and not native:
        return None
    stack = (*native, *(f"{f.source} {f.function}".strip() for f in python))
    own = next((f for f in python if not _TORCH_FILE.search(f.file)), None)
    if own is None or own.line is None:
        return Place(None, None, stack)
    return Place(own.source, own.function, stack)


def _native(chains: Sequence[ChainRow]) -> dict[int, tuple[str, ...]]:
    """Frames that name an operator, innermost first; a repeated name once."""
    by_chain: dict[int, list[ChainRow]] = defaultdict(list)
    for row in chains:
        by_chain[row.chain_id].append(row)
    named: dict[int, tuple[str, ...]] = {}
    for chain, members in by_chain.items():
        members.sort(key=lambda r: r.depth)
        kept = [
            short_symbol(r.symbol)
            for r in members
            if not _NATIVE_NOISE.search(r.symbol) and not _NATIVE_MODULES.search(r.module or "")
        ]
        named[chain] = tuple(dict.fromkeys(kept))[:_MAX_FRAMES]
    return named


def short_symbol(symbol: str) -> str:
    """A native symbol without its parameters: ``at::native::is_nonzero``."""
    depth, end = 0, len(symbol)
    for i, letter in enumerate(symbol):
        if letter == "<":
            depth += 1
        elif letter == ">":
            depth -= 1
        elif letter == "(" and depth <= 0 and not symbol.startswith("(anonymous namespace)", i):
            end = i
            break
    return symbol[:end].strip()


def _frames_in(value: Value) -> Iterator[PythonFrame]:
    """Frames anywhere in a decoded payload: records with a file, or parallel lists of such."""
    if isinstance(value, list):
        for item in value:
            yield from _frames_in(item)
    elif isinstance(value, str):
        yield from _frames_in_text(value)
    elif isinstance(value, dict):
        file = _named(value, "file", "path", "module")
        line = _named(value, "line", "lineno")
        function = _named(value, "func", "name", "symbol")
        if isinstance(file, list) and isinstance(line, list):
            functions = function if isinstance(function, list) else [None] * len(file)
            for one in zip(functions, file, line, strict=False):
                yield from _frame(*one)
        elif isinstance(file, str):
            yield from _frame(function, file, line)
        else:
            for item in value.values():
                yield from _frames_in(item)


def _named(fields: dict[str, Value], *words: str) -> Value:
    """The first field whose name holds one of the words, in the order of the words."""
    for word in words:
        for name, value in fields.items():
            if word in name.lower() and value is not None:
                return value
    return None


def _frame(function: Value, file: Value, line: Value) -> Iterator[PythonFrame]:
    if isinstance(file, str) and file:
        text = function if isinstance(function, str) and function != file else ""
        yield PythonFrame(text, file, line if isinstance(line, int) and line > 0 else None)


def _frames_in_text(text: str) -> list[PythonFrame]:
    frames = []
    for one in text.splitlines():
        found = _FRAME_TEXT.search(one)
        if found:
            rest = (one[: found.start()] + " " + one[found.end() :]).replace("in ", " ")
            words = re.findall(r"[A-Za-z_<][\w.<>]*", rest)
            function = next((w for w in words if w not in {"File", "file", "at", "line"}), "")
            frames.append(PythonFrame(function, found["file"], int(found["line"])))
    return frames


def _frames_in_strings(texts: Sequence[str]) -> list[PythonFrame]:
    """Files in order, each with the name beside it; lines are not known this way."""
    frames = []
    for i, text in enumerate(texts):
        if text.endswith(".py"):
            before = texts[i - 1] if i else ""
            function = before if before.isidentifier() or before.startswith("<") else ""
            frames.append(PythonFrame(function, text, None))
    return frames
