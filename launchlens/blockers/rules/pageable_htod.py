"""A copy from ordinary (pageable) host memory to the GPU inside the step.

What: a host-to-device copy whose source is pageable memory, usually a few bytes, and usually
followed by cudaStreamSynchronize on the same thread.

Why it blocks: CUDA cannot let the GPU read pageable memory later, so the host takes part in the
copy and waits. A graph replays without the host; torch refuses such a copy while a stream is
capturing ("Cannot copy between CPU and CUDA tensors during CUDA graph capture …"). The same is
true with ``non_blocking=True``, where no synchronize follows and torch's own sync debug mode
stays silent.

Example: ``epsilon = torch.tensor(1e-5)`` … ``epsilon.to(x.device)`` in a loop;
``torch.tensor(config.token_id, device="cuda")``; ``x[:, [3, 5]]``; ``x[:, ids] = 0.0``.

Remedy: a buffer registered once (``register_buffer``), ``torch.full((), 1e-5, device=x.device)``,
a plain Python number (``x.clamp_min(1e-5)``), or ``index_fill_`` instead of assigning a number.

References: huggingface/transformers#50457, #47547; vllm-project/vllm#48515;
flagos-ai/FlagGems#4472; NVIDIA/TensorRT-LLM#16680; sgl-project/sglang#35106;
pytorch/pytorch#172156.
"""

from __future__ import annotations

import numpy as np

from launchlens.blockers.copies import HTOD, copy_hits, find_copies
from launchlens.blockers.hits import Hits, Rule
from launchlens.blockers.view import View
from launchlens.blockers.words import copy_title

# Kinds of memory a GPU copy may come from without the host's help.
_FINE = ("Pinned", "Managed", "Managed Static", "Device", "Device Static")


def find(view: View) -> list[Hits]:
    """Host-to-device copies from pageable memory; from unknown memory if the host waits."""
    copies = find_copies(view)
    kind = copies.host_kind
    up = copies.direction == HTOD
    pageable = np.flatnonzero(up & (kind == "Pageable"))
    unknown = np.flatnonzero(up & ~np.isin(kind, ("Pageable", *_FINE)) & (copies.waits == 1))
    hits = []
    if pageable.size:
        hits.append(copy_hits(view, copies, pageable, "pageable", "likely"))
    if unknown.size:
        note = "The trace does not tell the kind of memory; the host waited for the copy."
        hits.append(copy_hits(view, copies, unknown, "unknown memory", "suspected", note))
    return hits


RULE = Rule(
    id="pageable-htod",
    rank=10,
    copies=True,
    errors=("refused-copy",),
    operators=("htod",),
    suspects=lambda event: event.kind == "htod" and not event.pinned,
    strength="high",
    remedy=(
        "Keep the value on the GPU: a registered buffer, torch.full(…, device=…), a Python "
        "number, or pinned memory copied before the step."
    ),
    title=copy_title,
    find=find,
)
