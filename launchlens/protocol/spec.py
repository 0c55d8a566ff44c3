"""What a child process is asked to do."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, RootModel, ValidationError, model_validator
from pydantic.dataclasses import dataclass

from launchlens.errors import HarnessError
from launchlens.protocol.checked import STRICT, first_problem

NVTX_DOMAIN = "launchlens"
"""NVTX domain of the ranges that mark steps and modules."""
MIN_TIMED_STEPS = 20
MIN_REQUEST_REPETITIONS = 10

Mode = Literal["time", "trace", "attempt", "dispatch", "calibrate"]
Dtype = Literal["bfloat16", "float16", "float32"]
Device = Literal["cuda", "cpu"]
_FromOne = Annotated[int, Field(ge=1)]
_LIST = Field(strict=False)  # JSON's lists become tuples


@dataclass(frozen=True, slots=True, config=STRICT)
class HarnessSpec:
    """One child process: one model, one variant, one mode.

    Raises:
        HarnessError: a value that makes no sense; the message names the key.
    """

    model: str
    """Preset name, Hugging Face hub id, or a folder with a config.json."""
    result_path: str
    """Where the result JSON is written."""
    variant: str = "eager"
    """A built-in variant's name, or ``module:function``."""
    mode: Mode = "time"
    """``time`` (no profiler), ``trace`` (NVTX ranges and the profiler's start and stop),
    ``attempt`` (one full capture, nothing else), ``dispatch`` (operators that copy or
    synchronize, with source lines), ``calibrate`` (costs of launches and graphs; no model).
    """
    weights: Literal["random", "pretrained"] = "random"
    """``random`` (built on the device) or ``pretrained``."""
    text_only: bool = False
    """Build the language model alone from a multimodal configuration."""
    layers: _FromOne | None = None
    """Shorten the model to this many layers; None keeps all."""
    isl: _FromOne = 25
    """Input tokens of each sequence."""
    osl: _FromOne | None = None
    """Output tokens (a prefill and osl-1 decode steps with a static cache); None runs prefill
    steps alone.
    """
    batch: _FromOne = 1
    """Sequences in a step."""
    concurrency: Annotated[tuple[_FromOne, ...], _LIST] = ()
    """Numbers of requests to batch together for the request level (mode time)."""
    dtype: Dtype = "bfloat16"
    """Dtype of weights and activations."""
    steps: _FromOne = MIN_TIMED_STEPS
    """Measured steps (rounds of prefill and decode with osl)."""
    warmup: Annotated[int, Field(ge=0)] = 5
    """Steps run before measuring."""
    modules: bool = False
    """Also mark each module's forward with an NVTX range."""
    patch: str | None = None
    """Python file executed before the model is built; its ``patch(model)``, if it has one, is
    called afterwards.
    """
    device: Device | Literal["auto"] = "auto"
    """Where the model runs."""
    seed: int = 0
    """Seed of weights and input tokens, so that every variant computes the same thing."""
    outputs_path: str | None = None
    """Where outputs are saved for the equivalence check (``.npz``); None skips it."""
    equivalence_dtypes: Annotated[tuple[Dtype, ...], _LIST] = ()
    """Further dtypes to save outputs in."""
    graph_trace: str | None = None
    """Label of the tracing mode around this process, copied into the result."""
    keep_going: bool = False
    """Mode attempt: patch over each confirmed copy and try again."""
    patched_sources: Annotated[tuple[str, ...], _LIST] = ()
    """Mode attempt: source lines ("file.py:12") patched over from the start."""

    def __post_init__(self) -> None:
        if self.concurrency and self.osl is None:
            raise HarnessError(
                "The request level needs decode steps.", hint="Give the output tokens (osl) too."
            )

    @model_validator(mode="wrap")
    @classmethod
    def _refuse_in_a_sentence(cls, value: Any, make: Any) -> Self:
        try:
            made: Self = make(value)
        except ValidationError as error:
            raise _refusal(error) from error
        return made

    @classmethod
    def from_json(cls, text: str) -> HarnessSpec:
        """Reads a spec, one JSON object, refusing unknown, missing or wrongly typed keys.

        Raises:
            HarnessError: the text is no such object; the message names the key.
        """
        try:
            return RootModel[HarnessSpec].model_validate_json(text).root
        except ValidationError as error:
            raise HarnessError(f"The spec is not valid JSON: {first_problem(error)}.") from error

    def to_json(self) -> str:
        """The spec as one indented JSON object that :meth:`from_json` reads back."""
        return RootModel[HarnessSpec](self).model_dump_json(indent=2)


def _refusal(error: ValidationError) -> HarnessError:
    """What is wrong with a spec: all unknown or missing keys, or the first wrong value."""
    problems = error.errors()
    for kinds, said in (
        ({"extra_forbidden", "unexpected_keyword_argument"}, "has unknown keys"),
        ({"missing", "missing_argument"}, "lacks"),
    ):
        keys = sorted(str(p["loc"][0]) for p in problems if p["type"] in kinds)
        if keys:
            return HarnessError(f"The spec {said}: {', '.join(keys)}.")
    problem = problems[0]
    context, value = problem.get("ctx", {}), problem["input"]
    key = str(problem["loc"][0]) if problem["loc"] else ""
    if problem["type"] == "literal_error":
        return HarnessError(f"{key} {value!r} is unknown.", hint=f"Use {context['expected']}.")
    if problem["type"] == "greater_than_equal":
        return HarnessError(f"{key} must be at least {context['ge']}, not {value}.")
    if not key:
        return HarnessError("The spec is not a JSON object.")
    return HarnessError(f"The spec's {key} is {value!r}: {problem['msg']}.")
