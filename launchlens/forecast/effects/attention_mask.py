"""Transformers makes attention masks while a stream is capturing that it leaves out otherwise.

Why: an eager step without padding is causal, which a flag tells torch's
scaled_dot_product_attention; whether there is padding is a value on the GPU, which a capture must
not read, so that the mask is made then. Each attention call gets it expanded, padded and copied.

Measured at 25 tokens: beside the eager step of the same model the captured one runs 5.4 to 5.7
operations more for each attention call, which take 9.0 to 10.7 µs (traces profile-*-cudagraph.node
beside profile-*-eager.node of qwen3-0.6b, gemma-4-E4B twice, and gemma-3n-E4B). They grow with the
square of the tokens, which a trace does not tell.

A torch attention kernel that has a mask is seen by the fill kernel (its padding) shortly before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from launchlens.forecast.effects import Effect

_ATTENTION = re.compile(r"_native_sdpa_|PyTorchMemEffAtt|pytorch_flash::")
_EAGER = "at::native::"
_PADS = "FillFunctor"
_REACH = 5


def _find(names: Sequence[str]) -> list[int]:
    """Torch's attention kernels in an eager step that no mask is made for."""
    found = []
    for place, name in enumerate(names):
        if not _ATTENTION.search(name):
            continue
        before = [n for n in names[max(place - _REACH, 0) : place] if n != "memset"]
        if before and _EAGER in before[-1] and not any(_PADS in n for n in before):
            found.append(place)
    return found


EFFECT = Effect(
    name="attention mask",
    find=_find,
    operations=5.5,
    busy_ns=10_200,
    spread=0.1,
    note="{count} attention calls of a step run without a mask. Transformers makes one while it is "
    "captured: {time} more, as measured at 25 tokens; longer prompts need more, other models none.",
)
