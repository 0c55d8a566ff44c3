"""Loads a checkpoint with its own weights, all of them, or its language model alone."""

from __future__ import annotations

from typing import Any

from launchlens.errors import HarnessError
from launchlens.harness.failures import first_line, is_out_of_memory

_HINT = "Random weights cost the same launches: leave out --weights pretrained."
_NAMED = 2


def load_checkpoint(
    auto: Any, source: str, config: Any, *, device: str, dtype: Any
) -> tuple[Any, list[str]]:
    """The model of a checkpoint, with nothing left random.

    Args:
        auto: the transformers Auto class that knows the configuration.
        source: hub id or folder.
        config: the checkpoint's own configuration, whole, perhaps with fewer layers.
        device: ``cuda`` or ``cpu``.
        dtype: a torch dtype; weights stored in another one are converted.

    Returns:
        The model, and what a report must say of its weights.

    Raises:
        HarnessError: it cannot be read, or lacks weights the model has.
    """
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
            f"The weights of {source} cannot be loaded: {first_line(error)}", hint=_HINT
        ) from error
    unfit = {
        name: f"{name} ({list(has)}, not {list(wants)})"
        for name, has, wants in info["mismatched_keys"]
    }
    absent = [unfit.get(name, name) for name in sorted({*info["missing_keys"], *unfit})]
    if absent:
        raise HarnessError(
            f"The checkpoint {source} lacks {len(absent)} of the model's weights, which would be "
            f"random: {_list(absent)}.",
            hint=_HINT,
        )
    unused = sorted(info["unexpected_keys"])
    noun = "weight" if len(unused) == 1 else "weights"
    notes = [f"{len(unused)} {noun} of the checkpoint not used: {_list(unused)}."]
    return module, notes if unused else []


def language_model_of(whole: Any, auto: Any, config: Any, dtype: Any) -> Any:
    """The language model of a multimodal one as a model of its own, with the same weights.

    ``config`` is the language model's configuration, ``auto`` the Auto class that knows it.

    Raises:
        HarnessError: it holds no such part.
    """
    import torch

    with torch.device("meta"):
        alone = auto.from_config(config, dtype=dtype)
    kind = type(alone.base_model)
    decoder = next((m for m in whole.modules() if type(m) is kind), None)
    head = whole.get_output_embeddings()
    if decoder is None or head is None:
        raise HarnessError(
            f"{type(whole).__name__} holds no {kind.__name__} with a head: its language model does "
            "not stand alone.",
            hint="Leave out --text-only.",
        )
    setattr(alone, alone.base_model_prefix, decoder)
    alone.set_output_embeddings(head)
    alone.generation_config = whole.generation_config
    return alone


def _list(names: list[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
