"""Builds the model a spec names: a preset, a hub id or a local folder."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from launchlens.errors import HarnessError
from launchlens.harness.failures import is_out_of_memory
from launchlens.harness.layers import shorten_layers
from launchlens.harness.presets import find_preset, near_presets, unknown_model_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from launchlens.harness.spec import HarnessSpec


@dataclass(frozen=True, slots=True)
class BuiltModel:
    """A model ready to run, and what a report says about it."""

    module: Any
    facts: dict[str, Any]
    notes: tuple[str, ...]


def build_model(spec: HarnessSpec, device: str, dtype: str) -> BuiltModel:
    """Builds the spec's model on a device.

    Random weights are drawn on the device itself, in the target dtype, by the model's own
    initialization with the spec's seed: every variant on the same machine gets the same ones.

    Args:
        spec: names the model, its weights, its layers and the patch.
        device: ``cuda``, ``cpu`` or ``meta`` (shapes only).
        dtype: bfloat16, float16 or float32.

    Returns:
        The model in evaluation mode, gradients off.

    Raises:
        HarnessError: unknown model, unreadable configuration, too little memory, or a patch
            that fails.
    """
    _require_packages()
    import torch

    # As serving engines do; values a model builds while it runs take this dtype too.
    torch.set_default_dtype(getattr(torch, dtype))
    patch = load_patch(spec.patch)
    config, source, notes = _read_config(spec)
    layers_note = shorten_layers(config, spec.layers)
    if layers_note:
        notes.append(layers_note)
    try:
        module = _instantiate(spec, config, source, device, dtype)
    except Exception as error:
        if is_out_of_memory(error):
            raise _memory_error(spec, device, dtype) from error
        raise
    module.eval()
    module.requires_grad_(requires_grad=False)
    if patch is not None:
        module = _apply_patch(spec, patch, module)
    return BuiltModel(module, _facts(spec, module, source, dtype, layers_note), tuple(notes))


def load_patch(path: str | None) -> Callable[[Any], Any] | None:
    """Executes a patch file and returns its ``patch`` function, if it defines one.

    Raises:
        HarnessError: the file is missing or raises; the message holds its error's first line.
    """
    if path is None:
        return None
    file = Path(path)
    if not file.is_file():
        raise HarnessError(f"The patch {path} does not exist.")
    sys.path.insert(0, str(file.resolve().parent))
    loader = importlib.util.spec_from_file_location("launchlens_patch", file)
    if loader is None or loader.loader is None:
        raise HarnessError(f"The patch {path} is not a Python file.")
    module = importlib.util.module_from_spec(loader)
    try:
        loader.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise HarnessError(f"The patch {path} failed: {_first_line(error)}") from error
    found = getattr(module, "patch", None)
    return found if callable(found) else None


def config_digest(config: Any) -> str:
    """SHA-256 of a configuration's canonical JSON (without the transformers version)."""
    values = config.to_dict()
    values.pop("transformers_version", None)
    text = json.dumps(values, sort_keys=True, default=str, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _require_packages() -> None:
    for name in ("torch", "transformers"):
        if importlib.util.find_spec(name) is None:
            raise HarnessError(
                f"{name} is not installed in {sys.executable}.",
                hint="Install launchlens with its extra: pip install 'launchlens[profile]'.",
            )


def _read_config(spec: HarnessSpec) -> tuple[Any, str, list[str]]:
    """The configuration, where it comes from (a path or hub id), and notes."""
    import transformers

    notes: list[str] = []
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
        notes.append(preset.note)
        config = getattr(transformers, preset.config_class)(**preset.config)
        return config, f"preset {preset.name}", notes
    source = preset.hub_id if preset is not None else spec.model
    config = _auto_config(spec, source)
    if spec.text_only:
        config = config.get_text_config(decoder=True)
        notes.append("Language model alone (text only).")
    return config, source, notes


def _auto_config(spec: HarnessSpec, source: str) -> Any:
    from transformers import AutoConfig

    if not Path(source).is_dir() and ("/" not in source or source.startswith((".", "/"))):
        raise unknown_model_error(spec.model)
    try:
        return AutoConfig.from_pretrained(source)
    except (OSError, ValueError) as error:
        if Path(source).is_dir():
            message = f"The configuration in {source} cannot be read: {_first_line(error)}"
            raise HarnessError(message) from error
        near = ", ".join(near_presets(spec.model))
        raise HarnessError(
            f"The configuration of {source} cannot be had from the hub: {_first_line(error)}",
            hint="Check the id and the network, or give a local folder or a preset"
            + (f" (near: {near})." if near else "."),
        ) from error


def _instantiate(spec: HarnessSpec, config: Any, source: str, device: str, dtype: str) -> Any:
    import torch
    import transformers

    auto = transformers.AutoModelForCausalLM
    # A multimodal wrapper that takes text alone but is not listed as a causal model.
    if type(config) not in auto._model_mapping:  # there is no public query
        auto = transformers.AutoModelForImageTextToText
    target = getattr(torch, dtype)
    torch.manual_seed(spec.seed)
    if spec.weights == "pretrained":
        return _load(auto, config, source, device, target)
    try:
        with torch.device(device):
            return auto.from_config(config, dtype=target)
    except ValueError as error:
        if "Unrecognized configuration class" not in str(error):
            raise
        raise HarnessError(
            f"{type(config).__name__} has no model class that generates text."
        ) from error


def _load(auto: Any, config: Any, source: str, device: str, dtype: Any) -> Any:
    """A checkpoint with its own weights, all of them.

    Raises:
        HarnessError: it cannot be read, or lacks weights the model has.
    """
    hint = "Random weights cost the same launches: leave out --weights pretrained."
    try:
        module, info = auto.from_pretrained(
            source,
            config=config,
            dtype=dtype,
            device_map={"": device},
            ignore_mismatched_sizes=True,  # told below, with the others
            output_loading_info=True,
        )
    except Exception as error:  # safetensors, torch and transformers each raise their own
        if is_out_of_memory(error):
            raise
        raise HarnessError(
            f"The weights of {source} cannot be loaded: {_first_line(error)}", hint=hint
        ) from error
    unfit = {
        name: f"{name} ({list(has)}, not {list(wants)})"
        for name, has, wants in info["mismatched_keys"]
    }
    absent = [unfit.get(name, name) for name in sorted({*info["missing_keys"], *unfit})]
    if absent:
        raise HarnessError(
            f"The checkpoint {source} lacks {len(absent)} of the model's weights, which would be "
            f"random: {', '.join(absent[:2])}{', …' if len(absent) > 2 else ''}.",
            hint=hint,
        )
    return module


def _apply_patch(spec: HarnessSpec, patch: Callable[[Any], Any], module: Any) -> Any:
    try:
        replaced = patch(module)
    except Exception as error:
        raise HarnessError(f"patch(model) in {spec.patch} failed: {_first_line(error)}") from error
    return module if replaced is None else replaced


def _facts(
    spec: HarnessSpec, module: Any, source: str, dtype: str, layers_note: str | None
) -> dict[str, Any]:
    parameters = list(module.parameters())
    return {
        "name": spec.model,
        "source": source,
        "class": type(module).__name__,
        "weights": spec.weights,
        "text_only": spec.text_only or source.startswith("preset "),
        "parameters": sum(item.numel() for item in parameters),
        "parameter_bytes": sum(item.numel() * item.element_size() for item in parameters),
        "config_digest": config_digest(module.config),
        "dtype": dtype,
        "layers": int(module.config.get_text_config(decoder=True).num_hidden_layers),
        "layers_note": layers_note,
        "patch": spec.patch,
    }


def _memory_error(spec: HarnessSpec, device: str, dtype: str) -> HarnessError:
    """Says how much the model needs, counted on a model without storage."""
    import torch

    config, source, _ = _read_config(spec)
    shorten_layers(config, spec.layers)
    skeleton = (
        _instantiate(spec, config, source, "meta", dtype) if spec.weights == "random" else None
    )
    needed = (
        f"{sum(p.numel() * p.element_size() for p in skeleton.parameters()) / 2**30:.1f} GiB for "
        "its weights alone"
        if skeleton is not None
        else "more than is free"
    )
    total = ""
    if device == "cuda":
        free_bytes, total_bytes = torch.cuda.mem_get_info()
        total = f"; the GPU has {total_bytes / 2**30:.1f} GiB, {free_bytes / 2**30:.1f} GiB free"
    return HarnessError(
        f"{spec.model} ({spec.variant}) does not fit: it needs {needed}{total}.",
        hint="Use --layers, a smaller batch, or another dtype.",
    )


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0].strip()}" if lines else type(error).__name__
