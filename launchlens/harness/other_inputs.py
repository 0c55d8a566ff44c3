"""Other values for the buffers of a step's inputs: what a replay must follow."""

from __future__ import annotations

import inspect
from typing import Any

from launchlens.harness.inputs import DECODE, StepInputs

_SEED = 4321
_MASK, _POSITIONS = "attention_mask", "position_ids"


def with_masks(model: Any, prefill: dict[str, Any]) -> dict[str, Any] | None:
    """The same prefill inputs with a mask and positions; None for a model that takes neither."""
    import torch

    known = inspect.signature(model.forward).parameters
    tokens = prefill["input_ids"]
    positions = torch.arange(tokens.shape[1], device=tokens.device).expand(tokens.shape)
    added = {_MASK: torch.ones_like(tokens), _POSITIONS: positions.clone()}
    taken = {name: tensor for name, tensor in added.items() if name in known}
    return prefill | taken if taken else None


def varied_parts(arguments: dict[str, Any], phase: str) -> tuple[str, ...]:
    """What `write_input` changes, in words."""
    lengths = ("lengths",) if _MASK in arguments or phase == DECODE else ()
    positions = ("positions",) if _POSITIONS in arguments or phase == DECODE else ()
    return ("tokens", *lengths, *positions, *(("masks",) if _MASK in arguments else ()))


def write_input(
    inputs: StepInputs, arguments: dict[str, Any], phase: str, vocabulary: int, index: int
) -> None:
    """Writes the n-th input into the buffers of a step and sets the cache to where it begins.

    Tokens are random. With a mask, sequences have other lengths, padded on the left as
    generation does, and count their positions from the first token. A decode step begins behind
    another number of tokens, within those that the cache holds.
    """
    import torch

    tokens = arguments["input_ids"]
    generator = torch.Generator().manual_seed(_SEED + index)
    tokens.copy_(torch.randint(1, vocabulary, tokens.shape, generator=generator))
    batch, size = tokens.shape
    if _MASK in arguments:
        lengths = torch.randint(1, size + 1, (batch, 1), generator=generator)
        mask = (torch.arange(size) >= size - lengths).to(torch.int64)
        arguments[_MASK].copy_(mask)
        if _POSITIONS in arguments:
            arguments[_POSITIONS].copy_((mask.cumsum(-1) - 1).clamp(min=0))
    steps = len(inputs.forced_tokens)
    behind = index % steps if phase == DECODE and steps else 0
    inputs.rewind(inputs.start_of(phase) + behind)
