"""What a GPU, its driver and the tracing cost: shipped with launchlens, or measured here.

A file of ``shipped/`` holds the constants of one GPU; `launchlens calibrate` measures those of a
machine into a file of the same layout.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from launchlens.errors import LaunchlensError

FOREIGN_SPREAD = 0.4
"""Spread of a constant that was measured on another GPU, as a part of its value."""
COSTS = (
    "node_gap_ns",
    "memset_gap_ns",
    "delay_ns",
    "enter_graph_ns",
    "leave_graph_ns",
    "graph_launch_ns",
    "graph_launch_node_ns",
    "replay_ns",
    "tracing_ns",
)


@dataclass(frozen=True, slots=True)
class Constant:
    """A cost in nanoseconds, and how much it differed where it was measured."""

    value: float
    """The cost."""
    spread: float
    """Standard deviation over the recordings that it comes from."""


@dataclass(frozen=True, slots=True)
class Constants:
    """Costs of one machine."""

    gpu: str
    """The GPU they were measured on."""
    driver: str | None
    """Its driver."""
    cuda: str | None
    """Version of CUDA."""
    format: str
    """Format of the traces that `tracing_ns` was measured with (`TraceInfo.format`)."""
    recorder: str | None
    """What recorded them."""
    cpu: str | None
    """The CPU, on which costs of calls depend."""
    measured: str
    """Day of the measurement."""
    evidence: str
    """What they were measured from."""
    node_gap_ns: Constant
    """By how much a kernel or copy of a graph lengthens it beyond the time that it takes in an
    eager trace: the pause before it, and what it runs longer."""
    memset_gap_ns: Constant
    """The same for a memset of a graph."""
    delay_ns: Constant
    """From the end of an operation to the next one's start, launched one by one, in time."""
    enter_graph_ns: Constant
    """From the end of an operation to the first one of a graph that was launched in time."""
    leave_graph_ns: Constant
    """From the end of a graph to an operation that was launched in time."""
    graph_launch_ns: Constant
    """CPU time of a graph launch, whatever the graph."""
    graph_launch_node_ns: Constant
    """CPU time of it for each node."""
    replay_ns: Constant
    """CPU time from the start of a step to the launch of the graph that replaces it."""
    tracing_ns: Constant
    """By how much tracing lengthens the thread's work for each call of the CUDA API."""
    model_error: float
    """How far steps of known operations differ from the model, as a part of their time."""
    source: str = "shipped"
    """`shipped` or `measured`."""
    foreign: bool = False
    """Whether the trace is of another GPU than the constants."""
    other_recorder: bool = False
    """Whether it was recorded by another program than the one whose tracing was measured."""

    def raised(self, name: str) -> Constants:
        """The constants with one of them higher by its spread."""
        constant: Constant = getattr(self, name)
        return replace(self, **{name: replace(constant, value=constant.value + constant.spread)})  # type: ignore[arg-type]

    def for_trace(self, gpu: str | None, trace_format: str) -> Constants:
        """The constants for a trace of this GPU and format: with wide spreads if others'."""
        found = self
        if trace_format != self.format:
            tracing = replace(self.tracing_ns, spread=self.tracing_ns.value)
            found = replace(found, tracing_ns=tracing, other_recorder=True)
        if gpu == self.gpu:
            return found
        wide = {
            name: Constant(c.value, max(c.spread, FOREIGN_SPREAD * c.value))
            for name in COSTS
            if (c := getattr(found, name))
        }
        return replace(found, foreign=True, **wide)  # type: ignore[arg-type]


def parse(text: str, *, named: str, source: str) -> Constants:
    """Constants from the text of their file.

    Raises:
        LaunchlensError: it lacks one, or one is no number.
    """
    try:
        read: dict[str, Any] = json.loads(text)
        costs = {n: Constant(float(read[n]["value"]), float(read[n]["spread"])) for n in COSTS}
        told = {f.name: read.get(f.name) for f in fields(Constants) if f.name not in COSTS}
        told |= {
            "source": source,
            "foreign": False,
            "other_recorder": False,
            "model_error": float(read["model_error"]),
        }
        if any(not 0 <= v < 1e9 for c in costs.values() for v in (c.value, c.spread)):
            raise ValueError("a cost is negative or longer than a second")
        return Constants(**{**told, **costs, "gpu": str(read["gpu"])})  # type: ignore[arg-type]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LaunchlensError(
            f"{named} holds no constants of a machine: {type(error).__name__}: {error}.",
            hint="launchlens calibrate writes it anew.",
        ) from error


@cache
def shipped() -> tuple[Constants, ...]:
    """Constants of the GPUs measured so far, by file name."""
    folder = resources.files(f"{__package__}") / "shipped"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".json")), key=lambda f: f.name)
    return tuple(parse(f.read_text("utf-8"), named=f.name, source="shipped") for f in files)


def choose(gpu: str | None, trace_format: str, measured: Path | None = None) -> Constants:
    """The constants for a trace of a GPU.

    Those measured on this machine where ``measured`` is their file and they are of that GPU, else
    shipped ones of that GPU, else those of another, with wide spreads.

    Raises:
        LaunchlensError: the file holds no constants.
    """
    known = list(shipped())
    if measured is not None and measured.is_file():
        text = measured.read_text("utf-8")
        known.insert(0, parse(text, named=str(measured), source="measured"))
    own = next((c for c in known if c.gpu == gpu), None)
    return (own or known[0]).for_trace(gpu, trace_format)
