"""The models that `launchlens profile` knows by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A line of ``launchlens models``."""

    name: str
    """Name to give to `profile --model`."""
    hub_id: str
    """Checkpoint on the Hugging Face hub whose architecture it is."""
    layers: int
    """Decoder layers."""
    text_params_billion: float
    """Parameters of the text decoder, in billions."""
    config_class: str
    """Configuration class of transformers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelList:
    """All presets: the JSON object of ``launchlens models --format json``."""

    schema: Literal["launchlens.models/1"] = "launchlens.models/1"
    """Name and version of this layout."""
    models: tuple[ModelRow, ...]
    """The models."""
