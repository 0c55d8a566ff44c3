"""A copy of a Kineto file that holds what figures need, and nothing else.

What is written is listed here, not what is left out: metadata, environment, ranks, input shapes and
whatever a future version adds do not get through. Texts (names of ranges, functions, kernels) lose
folders, secrets and the users that paths name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Generic

import msgspec

from launchlens.trace.formats.kineto.document import read_document
from launchlens.trace.formats.kineto.shapes import Time, TimedEvent
from launchlens.trace.formats.kineto.sink import EventSink
from launchlens.trace.formats.nsys.identity import pattern_of
from launchlens.trace.formats.nsys.paths import users_of
from launchlens.trace.formats.nsys.private import Cleaner
from launchlens.trace.interface import TraceFile

Dim = tuple[int, int, int]
_FACTS = ("cuda_driver_version", "cuda_runtime_version", "cupti_version", "baseTimeNanoseconds")
_ENCODER = msgspec.json.Encoder(decimal_format="number")


class KeptArgs(msgspec.Struct, gc=False, omit_defaults=True):
    """Arguments that figures, sizes and stacks need."""

    correlation: int | None = None
    external_id: int | None = msgspec.field(name="External id", default=None)
    device: int | None = None
    in_device: int | None = msgspec.field(name="inDevice", default=None)
    stream: int | None = None
    bytes: int | None = None
    graph: int | None = msgspec.field(name="graph id", default=None)
    graph_node: int | None = msgspec.field(name="graph node id", default=None)
    grid: Dim | None = None
    block: Dim | None = None
    shared_bytes: int | None = msgspec.field(name="shared memory", default=None)


def _kept(category: str) -> Any:
    """The struct of a category's events with the arguments that stay."""

    class Kept(TimedEvent[Time], Generic[Time], gc=False, tag=category):
        args: KeptArgs = msgspec.field(default_factory=KeptArgs)

    return Kept


class KeptEvents(EventSink):
    """Hands over the events that stay, with cleaned names where it is given a cleaner."""

    kept = tuple(
        map(
            _kept,
            (
                *("user_annotation", "cuda_runtime", "cuda_driver", "kernel", "gpu_memcpy"),
                *("gpu_memset", "overhead", "cpu_op", "python_function"),
            ),
        )
    )

    def __init__(self, use: Callable[[Any], None]) -> None:
        super().__init__()
        self._use = use

    def take(self, by_kind: dict[type, list[Any]], *, exact: bool) -> None:
        """See `EventSink.take`."""
        for kind in self.kept:
            for event in by_kind.get(kind, ()):  # a time that is missing is written as null
                self._use(event)


def scrub_json(file: TraceFile, out: Path) -> None:
    """Write the copy.

    Raises:
        TraceError: the file cannot be read.
    """
    names = _names_in(file)
    cleaned = _cleaned(names)
    with out.open("wb") as target:
        _write(file, target, cleaned)


def find_secrets(file: TraceFile) -> list[str]:
    """Texts that would still be cleaned, told by their place, never by their value.

    Raises:
        TraceError: the file cannot be read.
    """
    cleaned = _cleaned(_names_in(file))
    left = sum(name != clean for name, clean in cleaned.items())
    return [f"{left} names of events with folders, users or secrets"] if left else []


def _names_in(file: TraceFile) -> list[str]:
    seen: dict[str, None] = {}
    sink = KeptEvents(lambda event: seen.setdefault(event.name))
    read_document(file, sink)
    sink.finish()
    return list(seen)


def _cleaned(names: list[str]) -> dict[str, str]:
    """Each name as it may be shown."""
    users = {user for name in names for user in users_of(name)}
    cleaner = Cleaner(pattern_of(users))
    first = {name: cleaner.text(name) for name in names}
    again = cleaner.without_secrets()
    return {name: again.text(text) for name, text in first.items()}


def _write(file: TraceFile, target: BinaryIO, cleaned: Mapping[str, str]) -> None:
    begun = False

    def write(event: Any) -> None:
        nonlocal begun
        event.name = cleaned[event.name]
        target.write((b",\n" if begun else b"\n") + _ENCODER.encode(event))
        begun = True

    target.write(b'{"schemaVersion": 1, "traceEvents": [')
    sink = KeptEvents(write)
    facts = read_document(file, sink)
    sink.finish()
    target.write(b"\n]")
    for key, value in _facts(facts).items():
        target.write(b",\n" + _ENCODER.encode(key) + b": " + _ENCODER.encode(value))
    target.write(b"}\n")


def _facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers about CUDA, the clock's zero, and names of GPUs."""
    kept = {
        key: facts[key]
        for key in _FACTS
        if isinstance(facts.get(key), int) and not isinstance(facts[key], bool)
    }
    gpus = facts.get("deviceProperties")
    listed = [
        {"id": one["id"], "name": one["name"]}
        for one in (gpus if isinstance(gpus, list) else ())
        if isinstance(one, dict)
        and isinstance(one.get("id"), int)
        and isinstance(one.get("name"), str)
        and re.fullmatch(r"[\w .()-]{1,80}", one["name"])
    ]
    return {**kept, "deviceProperties": listed}
