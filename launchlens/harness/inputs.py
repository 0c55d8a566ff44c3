"""The static inputs of the steps: token buffers and, with output tokens, a static cache."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Final

from launchlens.protocol.spec import HarnessSpec

PREFILL: Final = "prefill"
DECODE: Final = "decode"


@dataclass(frozen=True, slots=True)
class StepInputs:
    """Inputs that stay at their addresses, so that a captured step can be replayed on them.

    Attributes:
        prefill: keyword arguments of the model for a prefill step; ``input_ids`` has shape
            (batch, isl).
        decode: the same for a decode step, ``input_ids`` of shape (batch, 1); None without
            output tokens.
        cache_layers: of transformers' StaticCache; none without output tokens.
        isl: input tokens of each sequence.
        forced_tokens: token ids of shape (osl - 1, batch) that every variant is fed in the
            equivalence check, so that one differing token does not change all that follows.
        all_static: every cache layer keeps its length on the device alone. Only then can a
            decode step be captured once and replayed at every position.
        notes: sentences for the report.
    """

    prefill: dict[str, Any]
    decode: dict[str, Any] | None
    cache_layers: list[Any]
    isl: int
    forced_tokens: Any
    all_static: bool
    notes: tuple[str, ...]

    def rewind(self, length: int) -> None:
        """Sets the cache to hold the first ``length`` tokens; what lies behind is masked."""
        for layer in self.cache_layers:
            if hasattr(layer, "cumulative_length"):
                layer.cumulative_length.fill_(length)
        self.note_length(length)

    def note_length(self, length: int) -> None:
        """Sets the lengths that the cache keeps as Python numbers: a replay does not run Python."""
        for layer in self.cache_layers:
            if hasattr(layer, "cumulative_length_int"):
                layer.cumulative_length_int = length

    def start_of(self, phase: str) -> int:
        """Tokens in the cache before the (first) step of a phase."""
        return 0 if phase == PREFILL else self.isl


def make_inputs(
    spec: HarnessSpec, model: Any, device: str, *, batch: int | None = None
) -> StepInputs:
    """Makes the inputs of a spec's steps, the same for the same seed; ``batch`` overrides its own.

    Prefill alone has no cache, as in a plain forward call.
    """
    import torch

    batch = batch or spec.batch
    vocabulary = int(model.config.get_text_config(decoder=True).vocab_size)
    generator = torch.Generator().manual_seed(spec.seed)
    tokens = torch.randint(1, vocabulary, (batch, spec.isl), generator=generator)
    steps = (spec.osl or 1) - 1
    forced = torch.randint(1, vocabulary, (steps, batch), generator=generator).to(device)
    common: dict[str, Any] = {"use_cache": False}
    notes: list[str] = []
    if "logits_to_keep" in inspect.signature(model.forward).parameters:
        # As generation and serving do: the logits of the last token alone.
        common["logits_to_keep"] = 1
    else:
        notes.append("The model computes the logits of all tokens.")
    layers: list[Any] = []
    all_static = True
    if steps:
        cache, all_static = _make_cache(model, spec.isl + steps)
        common |= {"use_cache": True, "past_key_values": cache}
        layers = cache.layers
    prefill = {"input_ids": tokens.to(device), **common}
    decode = {"input_ids": tokens[:, :1].to(device), **common} if steps else None
    return StepInputs(prefill, decode, layers, spec.isl, forced, all_static, tuple(notes))


def _make_cache(model: Any, length: int) -> tuple[Any, bool]:
    """A static cache, and whether all of its layers keep their length on the device.

    transformers' sliding layers count their tokens in Python, which a replayed graph does not
    run. A window that is longer than the whole cache never slides, so a plain static layer
    computes the same and stands in for it.
    """
    from transformers import StaticCache
    from transformers.cache_utils import StaticLayer, StaticSlidingWindowLayer

    cache = StaticCache(config=model.config, max_cache_len=length)
    window = getattr(model.config.get_text_config(decoder=True), "sliding_window", None)
    for index, layer in enumerate(cache.layers):
        if type(layer) is StaticSlidingWindowLayer and window is not None and window >= length:
            cache.layers[index] = StaticLayer(max_cache_len=length)
    all_static = all(type(layer) is StaticLayer for layer in cache.layers)
    return cache, all_static
