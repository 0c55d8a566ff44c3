"""What a child tells beside its measurements: failures, errors, machine and model."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from launchlens.protocol.checked import STRICT
from launchlens.protocol.step import StepPhase


@dataclass(frozen=True, slots=True, config=STRICT)
class VariantFailure:
    """Why a variant could not be prepared: an answer, not an error of the harness."""

    error_type: str
    """Class of the error."""
    error_line: str
    """Its first line."""
    source: str | None = None
    """The innermost line outside torch and the harness, "file.py:12"."""
    path: str | None = None
    """That file's full path."""
    line: int | None = None
    """That line."""
    function: str | None = None
    """The function it is in."""
    stack: tuple[str, ...] = ()
    """"path:line function", innermost first, torch's frames left out."""
    hint: str | None = None
    """What usually helps."""
    traceback: str | None = None
    """The whole trace, its end where it is long."""
    phase: StepPhase | None = None
    """Phase of the step."""


@dataclass(frozen=True, slots=True, config=STRICT)
class ChildError:
    """Why nothing could be measured."""

    type: str
    """Class of the error."""
    message: str
    """What went wrong and where."""
    hint: str | None
    """What to do."""
    traceback: str | None = None
    """None unless it looks like a bug."""


@dataclass(frozen=True, slots=True, config=STRICT)
class Environment:
    """Versions and the GPU."""

    torch: str
    transformers: str
    cuda: str | None
    gpu: str | None
    gpu_memory_bytes: int | None
    gpu_compute_capability: str | None
    driver: str | None
    """Not known inside the child."""
    python: str

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the software that the figures may depend on, by name."""
        told = (
            ("torch", self.torch),
            ("transformers", self.transformers),
            ("cuda", self.cuda),
            ("python", self.python),
        )
        return {name: version for name, version in told if version}


@dataclass(frozen=True, slots=True, config=STRICT)
class ModelFacts:
    """The model that was built."""

    name: str
    """As the spec names it."""
    source: str
    """Preset, hub id or folder that its configuration comes from."""
    class_name: Annotated[str, Field(validation_alias="class", serialization_alias="class")]
    """Class of the model."""
    weights: str
    text_only: bool
    parameters: int
    """How many there are."""
    parameter_bytes: int
    config_digest: str
    """Digest of the configuration as built."""
    dtype: str
    layers: int
    """Decoder layers it was built with."""
    layers_note: str | None
    """A sentence where it was shortened."""
    patch: str | None
    model_layers: int | None = None
    """Decoder layers of the whole model; None where an older harness did not tell."""
