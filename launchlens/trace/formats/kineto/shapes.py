"""Events as typed structs: the fields that figures need. The parser skips all others.

Sources: Kineto's output_json.cpp, CuptiActivity.cpp and RoctracerActivity_inl.h.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from typing import Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Struct, field

Time = TypeVar("Time", float, Decimal)
"""Microseconds, with three decimals or none."""
NO_ID = -1


class CallArgs(Struct, gc=False):
    """Arguments of a call."""

    correlation: int = NO_ID


class OpArgs(Struct, gc=False):
    """Arguments of a GPU operation."""

    correlation: int = NO_ID
    device: int = NO_ID
    in_device: int = field(name="inDevice", default=NO_ID)
    stream: int = NO_ID
    bytes: int = NO_ID
    graph_node: int = field(name="graph node id", default=0)


class TimedEvent(Struct, Generic[Time], gc=False, tag_field="cat"):
    """A complete event; ``pid`` and ``tid`` are a GPU and a stream where it ran on a GPU."""

    ts: Time
    dur: Time
    ph: Literal["X"]
    name: str
    pid: int
    tid: int


class PlainCall(TimedEvent[Time], Generic[Time], gc=False, tag="cuda_runtime"):
    """A call of the runtime API, without its arguments."""


class PlainDriverCall(TimedEvent[Time], Generic[Time], gc=False, tag="cuda_driver"):
    """A call of the driver API, without its arguments."""


class RuntimeCall(TimedEvent[Time], Generic[Time], gc=False, tag="cuda_runtime"):
    """A call of CUDA's runtime API; of HIP on AMD's GPUs."""

    args: CallArgs = field(default_factory=CallArgs)


class DriverCall(RuntimeCall[Time], Generic[Time], gc=False, tag="cuda_driver"):
    """A call of CUDA's driver API."""


class Kernel(TimedEvent[Time], Generic[Time], gc=False, tag="kernel"):
    """A kernel that ran."""

    args: OpArgs = field(default_factory=OpArgs)


class Memcpy(Kernel[Time], Generic[Time], gc=False, tag="gpu_memcpy"):
    """A copy that ran."""


class Memset(Kernel[Time], Generic[Time], gc=False, tag="gpu_memset"):
    """A memset that ran."""


class Annotation(TimedEvent[Time], Generic[Time], gc=False, tag="user_annotation"):
    """A range of the program's (`record_function`)."""


class Overhead(TimedEvent[Time], Generic[Time], gc=False, tag="overhead"):
    """Time that the profiler took for itself."""


class Operator(Struct, Generic[Time], gc=False, tag_field="cat", tag="cpu_op"):
    """An operator of torch's ran on the CPU."""


class PythonCall(Struct, Generic[Time], gc=False, tag_field="cat", tag="python_function"):
    """A function of Python's ran: the trace was recorded with ``with_stack=True``."""


def shaped(event: Mapping[str, Any], kinds: Mapping[str, Any]) -> Any:
    """A decoded event as its struct, what is odd in it unknown; None for one that is not needed.

    Times that are missing or no numbers are NaN, ids -1, and texts empty. ``kinds`` are the structs
    that are needed, by category.
    """
    kind = kinds.get(as_text(event.get("cat")))
    if kind is None or not issubclass(kind, TimedEvent):
        return kind and kind()
    made = kind(
        as_time(event.get("ts")),
        as_time(event.get("dur")),
        "X",
        as_text(event.get("name")),
        as_id(event.get("pid")),
        as_id(event.get("tid")),
    )
    if (shape := _shape_of_args(kind)) is not None:
        made.args = _shaped_args(event.get("args"), shape)
    return made


@cache
def _shape_of_args(kind: Any) -> Any:
    return next((f.type for f in msgspec.structs.fields(kind) if f.name == "args"), None)


def _shaped_args(args: object, shape: Any) -> Any:
    """Arguments as their struct, those that are odd left out."""
    found = {}
    for one in msgspec.structs.fields(shape):
        value = args.get(one.encode_name) if isinstance(args, dict) else None
        if value is None or (isinstance(value, int) and as_id(value) != value):
            continue
        with contextlib.suppress(msgspec.ValidationError):
            found[one.name] = msgspec.convert(value, one.type, strict=False)
    return shape(**found)


def as_text(value: object) -> str:
    """A text; empty for anything else."""
    return value if isinstance(value, str) else ""


def as_id(value: object) -> int:
    """A number that fits into a column, also as text; `NO_ID` for anything else."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 19:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return NO_ID
    return value if -(2**63) < value < 2**63 else NO_ID


def as_time(value: object) -> float | Decimal:
    """A time, exact; NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return math.nan
    return Decimal(value) if isinstance(value, int) else value
