"""Shortens a model's configuration to its first layers."""

from __future__ import annotations

from typing import Any

from launchlens.errors import HarnessError


def shorten_layers(config: Any, layers: int | None) -> int | None:
    """Cuts a transformers configuration to its first ``layers`` decoder layers; None keeps all.

    Lists with one entry for each layer are cut too. Layers that reuse an earlier layer's keys
    and values keep their share of the model, as far as each of them still finds an earlier
    layer of its own attention type.

    Returns:
        Layers of the whole model, or None when nothing was cut.

    Raises:
        HarnessError: the model has fewer layers than asked for.
    """
    text = config.get_text_config(decoder=True)
    total = int(text.num_hidden_layers)
    if layers is None or layers == total:
        return None
    if layers > total:
        raise HarnessError(f"The model has {total} layers, not {layers}.")
    for name, value in list(text.to_dict().items()):
        if isinstance(value, list) and len(value) == total:
            setattr(text, name, list(getattr(text, name))[:layers])
    text.num_hidden_layers = layers
    shared = getattr(text, "num_kv_shared_layers", None)
    if shared:
        text.num_kv_shared_layers = _shared_layers(text, layers, shared * layers / total)
    return total


def _shared_layers(text: Any, layers: int, wanted: float) -> int:
    types = list(getattr(text, "layer_types", None) or ["full_attention"] * layers)
    for shared in range(min(round(wanted), layers - 1), 0, -1):
        if set(types[layers - shared :]) <= set(types[: layers - shared]):
            return shared
    return 0
