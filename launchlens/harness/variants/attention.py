"""Attention functions that a graph can be cut at, known to transformers by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from launchlens.errors import HarnessError


def use_attention(model: Any, name: str, function: Callable[..., Any]) -> None:
    """Registers an attention function and makes a transformers model use it, with SDPA's masks.

    Raises:
        HarnessError: the model's attention cannot be exchanged.
    """
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(name, function)
    AttentionMaskInterface.register(name, sdpa_mask)
    model.set_attn_implementation(name)
    text = model.config.get_text_config(decoder=True)
    if text._attn_implementation != name:  # where transformers keeps it
        raise HarnessError(
            f"{type(model).__name__} does not take its attention from transformers' "
            "AttentionInterface, so the graph cannot be cut there."
        )


def output_like(query: Any, value: Any) -> Any:
    """A buffer for attention's output: (batch, tokens, heads, value width), contiguous."""
    batch, heads, tokens, _ = query.shape
    return query.new_empty((batch, tokens, heads, value.shape[-1]))
