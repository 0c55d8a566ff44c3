"""Builds the model a spec names: a preset, a hub id or a local folder."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from launchlens.errors import HarnessError
from launchlens.harness.checkpoint import language_model_of, load_checkpoint
from launchlens.harness.failures import first_line, is_out_of_memory
from launchlens.harness.layers import shorten_layers
from launchlens.harness.patch import load_patch
from launchlens.harness.presets import find_preset, near_presets, unknown_model_error
from launchlens.protocol.facts import ModelFacts
from launchlens.protocol.spec import HarnessSpec


@dataclass(frozen=True, slots=True)
class BuiltModel:
    """A model ready to run, and what a report says about it."""

    module: Any
    facts: ModelFacts
    notes: tuple[str, ...]


def build_model(spec: HarnessSpec, device: str, dtype: str) -> BuiltModel:
    """Builds the spec's model on a device.

    Random weights are drawn on the device itself, in the target dtype, by the model's own
    initialization with the spec's seed: every variant on the same machine gets the same ones.

    The model is in evaluation mode, gradients off; on the device ``meta`` it has shapes only.

    Raises:
        HarnessError: unknown model, unreadable configuration, too little memory, or a patch
            that fails.
    """
    import torch

    # As serving engines do; values a model builds while it runs take this dtype too.
    torch.set_default_dtype(getattr(torch, dtype))
    patch = None if spec.patch is None else load_patch(spec.patch)
    source = _read_config(spec)
    whole = shorten_layers(source.config, spec.layers)
    note = None if whole is None else f"Shortened to {spec.layers} of {whole} layers."
    notes = list(source.notes)
    try:
        if spec.weights == "pretrained":
            module, told = _load(source, device, dtype)
            notes += told if note is None else []  # layers left out have weights too
        else:
            module = _instantiate(spec, source.config, device, dtype)
    except Exception as error:
        if is_out_of_memory(error):
            raise _memory_error(spec, device, dtype) from error
        raise
    module.eval()
    module.requires_grad_(requires_grad=False)
    if patch is not None:
        module = patch(module)
    return BuiltModel(module, _facts(spec, module, source, dtype, note, whole), tuple(notes))


def config_digest(config: Any) -> str:
    """SHA-256 of a configuration's canonical JSON (without the transformers version)."""
    values = config.to_dict()
    values.pop("transformers_version", None)
    text = json.dumps(values, sort_keys=True, default=str, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Source:
    """A configuration, where it comes from (a preset, hub id or path), and notes.

    ``whole`` is the checkpoint's: of a multimodal one ``config`` may be the text part of it.
    """

    config: Any
    whole: Any
    name: str
    text_only: bool
    notes: tuple[str, ...]


def _read_config(spec: HarnessSpec) -> _Source:
    import transformers

    preset = find_preset(spec.model)
    folder = Path(spec.model)
    if folder.is_dir():
        preset = None
        if not (folder / "config.json").is_file():
            raise HarnessError(f"The folder {spec.model} has no config.json.")
    if preset is not None and spec.weights == "random":
        if not hasattr(transformers, preset.config_class):
            raise HarnessError(
                f"transformers {transformers.__version__} does not know {preset.config_class}.",
                hint="Install a newer transformers.",
            )
        config = getattr(transformers, preset.config_class)(**preset.config)
        name = f"preset {preset.name}"
        return _Source(config, config, name, text_only=True, notes=(preset.note,))
    name = preset.hub_id if preset is not None and "/" not in spec.model else spec.model
    whole = _auto_config(spec, name)
    if preset is None and not spec.text_only:
        return _Source(whole, whole, name, text_only=False, notes=())
    text = whole.get_text_config(decoder=True)  # of a preset whatever the weights
    note = preset.note if preset is not None else "Language model alone (text only)."
    return _Source(text, whole, name, text_only=True, notes=(note,))


def _auto_config(spec: HarnessSpec, source: str) -> Any:
    from transformers import AutoConfig

    if not Path(source).is_dir() and ("/" not in source or source.startswith((".", "/"))):
        raise unknown_model_error(spec.model)
    try:
        config = AutoConfig.from_pretrained(source)
    except (OSError, ValueError) as error:
        if Path(source).is_dir():
            message = f"The configuration in {source} cannot be read: {first_line(error)}"
            raise HarnessError(message) from error
        near = ", ".join(near_presets(spec.model))
        raise HarnessError(
            f"The configuration of {source} cannot be had from the hub: {first_line(error)}",
            hint="Check the id and the network, or give a local folder or a preset"
            + (f" (near: {near})." if near else "."),
        ) from error
    if getattr(config, "is_encoder_decoder", False):
        raise HarnessError(
            f"{spec.model} is an encoder-decoder model ({type(config).__name__}): launchlens "
            "builds and captures decoders alone, whose step takes nothing but tokens.",
            hint="Traces of its steps can be analyzed, searched for blockers and compared: "
            "launchlens blockers TRACE, with an NVTX range around each step of your program.",
        )
    return config


def _auto_class(config: Any) -> Any:
    import transformers

    auto = transformers.AutoModelForCausalLM
    # A multimodal wrapper that takes text alone but is not listed as a causal model.
    known = type(config) in auto._model_mapping  # there is no public query
    return auto if known else transformers.AutoModelForImageTextToText


def _load(source: _Source, device: str, dtype: str) -> tuple[Any, list[str]]:
    import torch

    target = getattr(torch, dtype)
    module, notes = load_checkpoint(
        _auto_class(source.whole), source.name, source.whole, device=device, dtype=target
    )
    if source.config is source.whole:
        return module, notes
    return language_model_of(module, _auto_class(source.config), source.config, target), notes


def _instantiate(spec: HarnessSpec, config: Any, device: str, dtype: str) -> Any:
    import torch

    torch.manual_seed(spec.seed)
    try:
        with torch.device(device):
            return _auto_class(config).from_config(config, dtype=getattr(torch, dtype))
    except ValueError as error:
        if "Unrecognized configuration class" not in str(error):
            raise
        raise HarnessError(
            f"{type(config).__name__} has no model class that generates text."
        ) from error


def _parameter_bytes(module: Any) -> int:
    return sum(item.numel() * item.element_size() for item in module.parameters())


def _facts(
    spec: HarnessSpec, module: Any, source: _Source, dtype: str, note: str | None, whole: int | None
) -> ModelFacts:
    layers = int(module.config.get_text_config(decoder=True).num_hidden_layers)
    return ModelFacts(
        name=spec.model,
        source=source.name,
        class_name=type(module).__name__,
        weights=spec.weights,
        text_only=source.text_only,
        parameters=sum(item.numel() for item in module.parameters()),
        parameter_bytes=_parameter_bytes(module),
        config_digest=config_digest(module.config),
        dtype=dtype,
        layers=layers,
        layers_note=note,
        model_layers=whole or layers,
        patch=spec.patch,
    )


def _memory_error(spec: HarnessSpec, device: str, dtype: str) -> HarnessError:
    """Says how much the model needs, counted on a model without storage."""
    import torch

    config = _read_config(spec).config
    shorten_layers(config, spec.layers)
    needed, total = "more than is free", ""
    if spec.weights == "random":
        weights = _parameter_bytes(_instantiate(spec, config, "meta", dtype))
        needed = f"{weights / 2**30:.1f} GiB for its weights alone"
    if device == "cuda":
        free_bytes, total_bytes = torch.cuda.mem_get_info()
        total = f"; the GPU has {total_bytes / 2**30:.1f} GiB, {free_bytes / 2**30:.1f} GiB free"
    return HarnessError(
        f"{spec.model} ({spec.variant}) does not fit: it needs {needed}{total}.",
        hint="Use --layers, a smaller batch, or another dtype.",
    )
