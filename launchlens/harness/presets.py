"""The architectures that can be built without a download. Imports no torch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from launchlens.errors import HarnessError
from launchlens.suggestions import did_you_mean, near_names

_SUFFIXES = ("-it", "-instruct", "-chat", "-base", "-pt")


@dataclass(frozen=True, slots=True)
class Preset:
    """The true configuration of a published model's text decoder.

    Attributes:
        name: short name, for example ``gemma-4-E4B``.
        hub_id: the checkpoint on the Hugging Face hub.
        text_params_billion: parameters of the text decoder, in billions.
        config_class: the transformers configuration class.
        config: its values.
        left_out: what the checkpoint holds beside the text decoder; empty where that is all.
    """

    name: str
    hub_id: str
    text_params_billion: float
    config_class: str
    config: dict[str, Any]
    left_out: str = ""

    @property
    def layers(self) -> int:
        """Number of decoder layers."""
        return int(self.config.get("num_hidden_layers") or self.config["n_layer"])

    @property
    def note(self) -> str:
        """What of the published model this is, in a sentence."""
        if self.left_out:
            model = f"the language model of {self.hub_id}"
            return f"Preset {self.name}: {model}, without its {self.left_out}."
        return f"Preset {self.name}: the architecture of {self.hub_id}."


@cache
def list_presets() -> tuple[Preset, ...]:
    """All packaged architectures, in the data file's order."""
    text = resources.files("launchlens.harness").joinpath("models.json").read_text("utf-8")
    return tuple(Preset(name=name, **entry) for name, entry in json.loads(text).items())


def find_preset(name: str) -> Preset | None:
    """Finds a preset by its name, whatever the case or tuning suffix, or by its own hub id.

    For example ``gemma-4-e4b``, ``gemma-4-E4B-it`` or ``google/gemma-4-E4B-it``.
    """
    wanted = name.strip().lower()
    for preset in list_presets():
        if "/" in wanted:  # another repository's model is not this one, whatever its name
            owner = preset.hub_id.partition("/")[0]
            known = {preset.hub_id.lower(), f"{owner}/{preset.name}".lower()}
            if wanted in known:
                return preset
        elif _key(wanted) in {_key(preset.name), _key(preset.hub_id)}:
            return preset
    return None


def near_presets(name: str) -> tuple[str, ...]:
    """Up to three preset names that look like a name, the nearest first."""
    names = {_key(preset.name): preset.name for preset in list_presets()}
    return tuple(names[key] for key in near_names(_key(name), names))


def unknown_model_error(name: str) -> HarnessError:
    """The error for a name that is neither a preset nor a model elsewhere; offers near names."""
    hint = "`launchlens models` lists the presets; a hub id or a local folder works too."
    hint = did_you_mean(near_presets(name)) or hint
    return HarnessError(f"Model {name!r} is neither a preset nor a folder nor a hub id.", hint=hint)


def _key(name: str) -> str:
    """A name's comparison key: no organisation, no case, no tuning suffix, no '3.1 v 3_1'."""
    key = name.strip().rsplit("/", maxsplit=1)[-1].lower().replace("_", "-")
    for suffix in _SUFFIXES:
        key = key.removesuffix(suffix)
    return key
