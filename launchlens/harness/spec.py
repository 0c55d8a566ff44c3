"""What the child is asked to do (HarnessSpec) and what it answers (the result JSON).

Result JSON, schema ``launchlens.harness/1``; unknown is ``null``, times are nanoseconds:

``schema``, ``status`` ("ok", "failed": the variant could not be captured, "error": nothing
could be measured), ``mode``, ``variant``, ``spec`` (the spec as run), ``notes`` (sentences a
report must show), ``environment`` (torch, transformers, cuda, gpu, gpu_memory_bytes, python,
driver), ``model`` (name, class, parameters, parameter_bytes, config_digest, dtype, layers,
layers_note, text_only, source, weights), and by mode:

* time, trace: ``captured`` (phase -> what the variant did there: "eager", "captured",
  "compiled", "custom" or "left eager: why"), ``prepare_ns`` (phase -> wall time of preparing
  the variant, with its warm-up, capture and compilation), ``graph_memory_bytes`` (growth of
  reserved GPU memory while preparing), ``peak_memory_bytes``, ``compile`` (graphs, graph
  breaks), ``decode_failure`` (as ``failure``: why the decode step was left eager), ``pieces``
  (graph and eager pieces of one step, where the variant has several).
* time: ``steps`` (phase -> ``samples_ns``, ``median_ns``), ``requests`` (one object for each
  concurrency), ``outputs`` (``path``, and for each dtype ``finite``).
* trace: ``steps`` (phase -> ``count``).
* dispatch: ``accelerator``, ``events`` (see :mod:`launchlens.harness.dispatch`).
* attempt: ``attempt`` (see :mod:`launchlens.harness.attempt`).

A failed variant has ``failure``: ``error_type``, ``error_line``, ``source`` ("file.py:12"),
``path``, ``line``, ``function``, ``stack``, ``hint``, ``traceback``, ``phase``. An error has
``error``: ``type``, ``message``, ``hint``, ``traceback`` (null unless it looks like a bug).
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from launchlens.errors import HarnessError

if TYPE_CHECKING:
    from pathlib import Path

RESULT_SCHEMA = "launchlens.harness/1"
NVTX_DOMAIN = "launchlens"
MIN_TIMED_STEPS = 20
MIN_REQUEST_REPETITIONS = 10

WEIGHTS = ("random", "pretrained")
MODES = ("time", "trace", "attempt", "dispatch")
DTYPES = ("bfloat16", "float16", "float32")
DEVICES = ("cuda", "cpu", "auto")


@dataclass(frozen=True, slots=True)
class HarnessSpec:
    """One child process: one model, one variant, one mode.

    Attributes:
        model: preset name, Hugging Face hub id, or a folder with a config.json.
        result_path: where the result JSON is written.
        variant: a built-in variant's name, or ``module:function``.
        mode: ``time`` (no profiler), ``trace`` (NVTX ranges and the profiler's start and
            stop), ``attempt`` (one full capture, nothing else), ``dispatch`` (operators that
            copy or synchronize, with source lines).
        weights: ``random`` (built on the device) or ``pretrained``.
        text_only: build the language model alone from a multimodal configuration.
        layers: shorten the model to this many layers; None keeps all.
        isl: input tokens of each sequence.
        osl: output tokens (a prefill and osl-1 decode steps with a static cache); None runs
            prefill steps alone.
        batch: sequences in a step.
        concurrency: numbers of requests to batch together for the request level (mode time).
        dtype: bfloat16, float16 or float32.
        steps: measured steps (rounds of prefill and decode with osl).
        warmup: steps run before measuring.
        modules: also mark each module's forward with an NVTX range.
        patch: Python file executed before the model is built; its ``patch(model)``, if it has
            one, is called afterwards.
        device: cuda, cpu or auto.
        seed: seed of weights and input tokens, so that every variant computes the same thing.
        outputs_path: where outputs are saved for the equivalence check (``.npz``); None skips.
        equivalence_dtypes: further dtypes to save outputs in.
        graph_trace: label of the tracing mode around this process, copied into the result.
        keep_going: mode attempt: patch over each confirmed copy and try again.
        patched_sources: mode attempt: source lines ("file.py:12") patched over from the start.
    """

    model: str
    result_path: str
    variant: str = "eager"
    mode: str = "time"
    weights: str = "random"
    text_only: bool = False
    layers: int | None = None
    isl: int = 25
    osl: int | None = None
    batch: int = 1
    concurrency: tuple[int, ...] = ()
    dtype: str = "bfloat16"
    steps: int = MIN_TIMED_STEPS
    warmup: int = 5
    modules: bool = False
    patch: str | None = None
    device: str = "auto"
    seed: int = 0
    outputs_path: str | None = None
    equivalence_dtypes: tuple[str, ...] = ()
    graph_trace: str | None = None
    keep_going: bool = False
    patched_sources: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        _check_choices(self)
        _check_numbers(self)
        if self.concurrency and self.osl is None:
            raise HarnessError(
                "The request level needs decode steps.", hint="Give the output tokens (osl) too."
            )

    @classmethod
    def from_json(cls, text: str) -> HarnessSpec:
        """Reads a spec, refusing unknown, missing or wrongly typed keys.

        Args:
            text: one JSON object.

        Raises:
            HarnessError: the text is no such object; the message names the key.
        """
        try:
            raw = json.loads(text)
        except json.JSONDecodeError as error:
            raise HarnessError(f"The spec is not valid JSON: {error}.") from error
        if not isinstance(raw, dict):
            raise HarnessError("The spec is not a JSON object.")
        known = {item.name: str(item.type) for item in fields(cls)}
        unknown = sorted(set(raw) - set(known))
        if unknown:
            raise HarnessError(f"The spec has unknown keys: {', '.join(unknown)}.")
        missing = sorted({"model", "result_path"} - set(raw))
        if missing:
            raise HarnessError(f"The spec lacks: {', '.join(missing)}.")
        return cls(**{key: _typed(key, known[key], value) for key, value in raw.items()})

    def to_json(self) -> str:
        """The spec as one indented JSON object that :meth:`from_json` reads back."""
        return json.dumps(asdict(self), indent=2)


def write_result(path: Path, result: dict[str, Any]) -> None:
    """Writes the result so that a reader sees all of it or nothing.

    Args:
        path: the result file; its folder must exist.
        result: the object described in this module's docstring.

    Raises:
        HarnessError: the folder cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(json.dumps(result, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise HarnessError(f"Cannot write the result {path}: {error.strerror}.") from error


def _typed(key: str, annotation: str, value: Any) -> Any:
    """Checks one JSON value against the field's annotation; lists become tuples."""
    if value is None:
        if "None" in annotation:
            return None
        raise HarnessError(f"The spec's {key} must not be null.")
    kind = annotation.removesuffix(" | None")
    if kind.startswith("tuple["):
        item: type = int if "int" in kind else str
        if isinstance(value, list) and all(type(entry) is item for entry in value):
            return tuple(value)
        raise HarnessError(f"The spec's {key} must be a list of {item.__name__}.")
    wanted: type = {"str": str, "int": int, "bool": bool}[kind]
    if type(value) is not wanted:
        raise HarnessError(f"The spec's {key} must be {wanted.__name__}, not {value!r}.")
    return value


def _check_choices(spec: HarnessSpec) -> None:
    for name, choices in (
        ("weights", WEIGHTS),
        ("mode", MODES),
        ("dtype", DTYPES),
        ("device", DEVICES),
    ):
        value = getattr(spec, name)
        if value not in choices:
            raise HarnessError(f"{name} {value!r} is unknown.", hint=f"Use {', '.join(choices)}.")
    for dtype in spec.equivalence_dtypes:
        if dtype not in DTYPES:
            raise HarnessError(f"dtype {dtype!r} is unknown.", hint=f"Use {', '.join(DTYPES)}.")


def _check_numbers(spec: HarnessSpec) -> None:
    least = {"isl": 1, "osl": 1, "batch": 1, "steps": 1, "warmup": 0, "layers": 1}
    for name, minimum in least.items():
        value = getattr(spec, name)
        if value is not None and value < minimum:
            raise HarnessError(f"{name} must be at least {minimum}, not {value}.")
    if any(count < 1 for count in spec.concurrency):
        raise HarnessError("concurrency must be at least 1.")
