"""What a child process answers: one result for each mode."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from launchlens.errors import HarnessError
from launchlens.protocol.checked import STRICT, first_problem
from launchlens.protocol.facts import ChildError, Environment, ModelFacts, VariantFailure
from launchlens.protocol.replay import ReplayCheck
from launchlens.protocol.spec import HarnessSpec, Mode
from launchlens.protocol.step import Attempt, CopyEvent, PreparedKind, StepPhase
from launchlens.protocol.timings import (
    CompileCounts,
    SavedOutputs,
    TimedCost,
    TimedRequests,
    TimedSteps,
    TracedSteps,
    UntimedRequests,
)


# Results are filled in while the child runs: what an error leaves behind tells how far it came.
@dataclass(slots=True, kw_only=True, config=STRICT)
class _Answer:
    schema: Literal["launchlens.harness/1"] = "launchlens.harness/1"
    status: Literal["ok", "failed", "error"] = "ok"
    """``failed``: the variant could not be captured; ``error``: nothing could be measured."""
    variant: str
    spec: HarnessSpec
    """The spec as run."""
    notes: list[str] = Field(default_factory=list)
    """Sentences that a report must show."""
    environment: Environment | None = None
    model: ModelFacts | None = None
    failure: VariantFailure | None = None
    """Set in a failed variant's answer."""
    error: ChildError | None = None
    """Set where nothing could be measured."""


@dataclass(slots=True, kw_only=True, config=STRICT)
class MeasuredResult(_Answer):
    """What preparing a variant brought, in the modes that run its steps."""

    captured: dict[StepPhase, PreparedKind] = Field(default_factory=dict)
    """What the variant made of each phase; ``notes`` say why where a phase was left eager."""
    prepare_ns: dict[StepPhase, int] = Field(default_factory=dict)
    """Wall time of preparing the variant, with its warm-up, capture and compilation."""
    pieces: dict[StepPhase, dict[str, int]] = Field(default_factory=dict)
    """Graph and eager pieces of one step, where the variant has several."""
    graph_memory_bytes: int | None = None
    """Growth of reserved GPU memory while preparing."""
    peak_memory_bytes: int | None = None
    """Most GPU memory held since the model was built."""
    compile: CompileCounts | None = None
    decode_failure: VariantFailure | None = None
    """Why the decode step was left eager."""


@dataclass(slots=True, kw_only=True, config=STRICT)
class TimeResult(MeasuredResult):
    """Steps timed with no profiler in the process."""

    mode: Literal["time"] = "time"
    steps: dict[StepPhase, TimedSteps] = Field(default_factory=dict)
    requests: list[TimedRequests | UntimedRequests] = Field(default_factory=list)
    """One for each concurrency."""
    outputs: SavedOutputs | None = None
    replays: dict[StepPhase, ReplayCheck] = Field(default_factory=dict)
    """Whether replays of a captured variant are right, by phase."""


@dataclass(slots=True, kw_only=True, config=STRICT)
class TraceResult(MeasuredResult):
    """Steps run under a profiler."""

    mode: Literal["trace"] = "trace"
    steps: dict[StepPhase, TracedSteps] = Field(default_factory=dict)


@dataclass(slots=True, kw_only=True, config=STRICT)
class AttemptResult(_Answer):
    """The capture of a prefill step, really tried."""

    mode: Literal["attempt"] = "attempt"
    attempt: Attempt | None = None


@dataclass(slots=True, kw_only=True, config=STRICT)
class DispatchResult(_Answer):
    """Operators of the eager steps that copy or wait."""

    mode: Literal["dispatch"] = "dispatch"
    accelerator: str | None = None
    """Device type that stood for the GPU: "cuda", or "meta" without one."""
    events: list[CopyEvent] = Field(default_factory=list)


@dataclass(slots=True, kw_only=True, config=STRICT)
class CalibrateResult(_Answer):
    """What launches and graphs cost, without any model."""

    mode: Literal["calibrate"] = "calibrate"
    costs: list[TimedCost] = Field(default_factory=list)
    """Every cost at every size; none under a profiler, which has steps of launches alone."""
    traced_steps: int = 0
    """Steps that were run under a profiler."""
    piece: int = 0
    """Nodes of each graph of the broken one."""


Result = TimeResult | TraceResult | AttemptResult | DispatchResult | CalibrateResult
AnyResult = TypeVar(
    "AnyResult", TimeResult, TraceResult, AttemptResult, DispatchResult, CalibrateResult
)
_RESULTS: dict[Mode, type[Result]] = {
    "time": TimeResult,
    "trace": TraceResult,
    "attempt": AttemptResult,
    "dispatch": DispatchResult,
    "calibrate": CalibrateResult,
}


def make_result(spec: HarnessSpec) -> Result:
    """An empty result for a spec's mode, to be filled in."""
    return _RESULTS[spec.mode](variant=spec.variant, spec=spec)


def write_result(path: Path, result: Result) -> None:
    """Writes a result so that a reader sees all of it or nothing.

    Raises:
        HarnessError: the folder cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    text = TypeAdapter(type(result)).dump_json(result, indent=1, by_alias=True)
    try:
        temporary.write_bytes(text + b"\n")
        temporary.replace(path)
    except OSError as error:
        raise HarnessError(f"Cannot write the result {path}: {error.strerror}.") from error


def read_result(path: Path, kind: type[AnyResult]) -> AnyResult | None:
    """A child's result; None where it wrote none (it was killed, or crashed).

    Raises:
        HarnessError: the file is no such result; the message names the key.
    """
    try:
        return TypeAdapter(kind).validate_json(path.read_bytes())
    except OSError:
        return None
    except ValidationError as error:
        said = first_problem(error)
        raise HarnessError(f"{path} is no result of the harness: {said}.") from error
