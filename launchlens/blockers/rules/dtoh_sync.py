"""A value is read back from the GPU inside the step, and the host waits for it.

What: a device-to-host copy followed by a synchronize, or into pageable memory. torch reads
single values through a small pinned buffer, so the kind of memory alone tells nothing.

Why it blocks: the host needs the value to go on (a branch, a size, a Python number). A captured
graph has no host in it, so the capture fails with error 900. If the code looks at
``torch.cuda.is_current_stream_capturing()`` first and skips the read, it does not block: the
trace of an eager step cannot tell, only an attempt can.

Example: ``.item()``, ``.tolist()``, ``.cpu()``, ``if mask.all():``, ``x[mask]``, ``nonzero``,
``repeat_interleave(x, counts)`` without ``output_size``.

Remedy: keep the decision on the GPU (``torch.where``), give sizes as arguments
(``output_size=``), read the value before the step, or leave that call out of the graph.

References: sgl-project/sglang#34782, #37810; vllm-project/vllm#51458; FlashML-org/FreeToken#59;
IBM/vLLM-Hook#6; transformers' masking code (``(mask[:, -1] == 0).all()``), which is skipped
while capturing.
"""

from __future__ import annotations

import numpy as np

from launchlens.blockers.copies import DTOH, copy_hits, find_copies
from launchlens.blockers.hits import Hits, Rule
from launchlens.blockers.view import Mask, Rows, View, kernel_names
from launchlens.blockers.words import copy_title

_LOOK_BACK = 6
MASK_NOTE = (
    "One byte is a yes-or-no answer, and the kernels in front of it (a running sum compared with "
    "a number) are those of transformers' packed-sequence check for the attention mask, which is "
    "skipped while a stream is capturing: it then does not block, and the captured step runs "
    "other kernels. Only a capture attempt tells."
)
CONDITION_NOTE = (
    "One byte is a yes-or-no answer: a condition on a GPU value. Code that looks at "
    "is_current_stream_capturing() first does not block; only a capture attempt tells."
)


def find(view: View) -> list[Hits]:
    """Device-to-host copies the host waits for, conditions (one byte) apart from values."""
    copies = find_copies(view)
    kind = copies.host_kind
    down = (copies.direction == DTOH) & ((copies.waits == 1) | (kind == "Pageable"))
    hits = []
    for label in sorted(set(kind[down].tolist())):
        mine = np.flatnonzero(down & (kind == label))
        memory = str(label).lower()
        # torch refuses a copy to pageable memory before CUDA is asked.
        errors = ("refused-copy",) if label == "Pageable" else ("not-permitted",)
        single = copies.bytes[mine] == 1
        values, conditions = mine[~single], mine[single]
        if values.size:
            hits.append(copy_hits(view, copies, values, memory, "likely", errors=errors))
        masks = _follow_mask_check(view, copies.row[conditions])
        for chosen, note in ((masks, MASK_NOTE), (~masks, CONDITION_NOTE)):
            some = conditions[chosen]
            if some.size:
                hits.append(copy_hits(view, copies, some, memory, "suspected", note, errors=errors))
    return hits


def _follow_mask_check(view: View, rows: Rows) -> Mask:
    """Whether a running sum and then a comparison were submitted just before each copy."""
    place = np.searchsorted(view.submitting, rows, side="left")
    known: dict[tuple[int, ...], bool] = {}
    result = np.zeros(rows.size, bool)
    for i, end in enumerate(place.tolist()):
        before = view.submitting[max(end - _LOOK_BACK, 0) : end]
        ops = view.op_of_call[before]
        key = tuple(view.trace.ops.name[ops].tolist())
        if key not in known:
            known[key] = _is_mask_check(kernel_names(view, ops))
        result[i] = known[key]
    return result


def _is_mask_check(kernels: list[str]) -> bool:
    scans = [i for i, name in enumerate(kernels) if "scan" in name.lower()]
    compares = [i for i, name in enumerate(kernels) if "CompareEq" in name]
    return bool(scans and compares and scans[0] < compares[-1])


RULE = Rule(
    id="dtoh-sync",
    rank=20,
    copies=True,
    errors=("not-permitted", "refused-copy"),
    operators=("dtoh", "sync"),
    suspects=lambda event: event.kind == "dtoh",
    strength="high, unless the code looks at is_current_stream_capturing",
    remedy=(
        "Keep the decision on the GPU (torch.where), pass sizes in (output_size=…), read the "
        "value before the step, or leave this call out of the graph."
    ),
    title=copy_title,
    find=find,
)
