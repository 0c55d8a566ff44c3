"""Python frames out of what nsys notes beside a CUDA call."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from launchlens.records.stacks import PythonFrame
from launchlens.trace.formats.nsys.layouts import Layouts
from launchlens.trace.formats.nsys.payload import Value, decode_payload

_MAX_FRAMES = 64
_WORD = re.compile(r"[A-Za-z_<][\w.<>]*")
_LINE = re.compile(r"(?<=[^\s():\"'])\.pyx?(?P<between>[:\"'(, ]{1,8}(?:line )?)(?P<line>\d{1,9})")
_AFTER_FILE = re.compile(r"[\s():\"']")
_LONGEST_FILE = 4096
_PRINTABLE = re.compile(rb"[\x20-\x7e]{3,}")


def decode_frames(
    payload: bytes, layouts: Layouts, *, domain: int = 0, text: str | None = None
) -> tuple[PythonFrame, ...]:
    """Python frames of one mark, innermost first; empty when nothing can be read from it.

    First by the layout the trace describes (nsys 2025.3: a list of function, file and line);
    else from text lines of the form "file.py:12"; else from what strings the payload holds,
    which gives files and functions without lines.
    """
    frames: list[PythonFrame] = []
    for value in decode_payload(payload, layouts, domain):
        frames.extend(_frames_in(value))
    if not frames and text:
        frames.extend(_frames_in_text(text))
    if not frames and payload:
        texts = [m[0].decode("ascii") for m in _PRINTABLE.finditer(payload)]
        frames.extend(_frames_in_text("\n".join(texts)) or _frames_in_strings(texts))
    return tuple(frames[:_MAX_FRAMES])


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
        yield PythonFrame(
            html.unescape(text), file, line if isinstance(line, int) and line > 0 else None
        )


def _frames_in_text(text: str) -> list[PythonFrame]:
    frames = []
    for one in text.splitlines():
        found = _LINE.search(one)
        if found:
            # Backwards from the line number: a pattern that begins with a name of any length would
            # be tried from every character of a long text.
            begin = max(0, found.start() - _LONGEST_FILE)
            before = one[begin : found.start()]
            begin += max((m.end() for m in _AFTER_FILE.finditer(before)), default=0)
            file = one[begin : found.start("between")]
            rest = (one[:begin] + " " + one[found.end() :]).replace("in ", " ")
            words = (m[0] for m in _WORD.finditer(rest))
            function = next((w for w in words if w not in {"File", "file", "at", "line"}), "")
            frames.append(PythonFrame(html.unescape(function), file, int(found["line"])))
            if len(frames) == _MAX_FRAMES:
                break
    return frames


def _frames_in_strings(texts: Sequence[str]) -> list[PythonFrame]:
    """Files in order, each with the name beside it; lines are not known this way."""
    frames = []
    for i, text in enumerate(texts):
        if text.endswith(".py"):
            before = texts[i - 1] if i else ""
            function = before if before.isidentifier() or before.startswith("<") else ""
            frames.append(PythonFrame(html.unescape(function), text, None))
    return frames
