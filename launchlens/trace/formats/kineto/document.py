"""A Kineto file from its first brace to its last: facts about the recording, and the events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from launchlens.errors import TraceError
from launchlens.trace.formats.kineto.pieces import read_events
from launchlens.trace.formats.kineto.sink import EventSink
from launchlens.trace.formats.kineto.text import JsonText
from launchlens.trace.interface import TraceFile

_EVENTS = "traceEvents"
_BYTE_ORDER_MARK = 3


def read_document(file: TraceFile, sink: EventSink) -> Mapping[str, Any]:
    """Hand over all events; returns the facts that stand beside them, by their keys.

    Raises:
        TraceError: no JSON, no events, or a file that ends too early.
    """
    facts: dict[str, Any] = {}
    with file.path.open("rb") as source:
        at = _BYTE_ORDER_MARK if file.head.startswith(b"\xef\xbb\xbf") else 0
        text = JsonText(source, file, at)
        text.expect("{")
        has_events = False
        while not text.skip("}"):
            if facts or has_events:
                text.expect(",")
            key = text.value()
            if not isinstance(key, str):
                raise text.broken("a key is no text")
            text.expect(":")
            if key == _EVENTS and text.peek() == "[":
                text.expect("[")
                text.peek()
                text = JsonText(source, file, read_events(source, file, text.at, sink))
                has_events = True
            else:
                facts[key] = text.value()
    if not has_events:
        raise TraceError(
            f"{file.named} is JSON as torch.profiler writes it, but it holds no list of events "
            f"({_EVENTS}).",
            hint="Record it again; export_chrome_trace writes them once the profiler has stopped.",
        )
    return facts
