"""What names of copies say: between which memories they went."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from launchlens.records.columns import CopyDirection, CopyTable, IntColumn, SmallColumn

# "Memcpy HtoD (Pageable -> Device)"; some versions name no memories. AMD's: "CopyHostToDevice".
_COPY = re.compile(r"Memcpy (?P<way>\w+)(?: \((?P<src>.+?) -> (?P<dst>.+?)\))?$")
_SET = re.compile(r"Memset(?: \((?P<dst>.+?)\))?$")
_AMD_COPY = re.compile(r"Copy(?P<src>Host|Device)To(?P<dst>Host|Device)")
_WAYS = {
    "HtoD": CopyDirection.HTOD,
    "DtoH": CopyDirection.DTOH,
    "DtoD": CopyDirection.DTOD,
    "HtoH": CopyDirection.HTOH,
    "PtoP": CopyDirection.PTOP,
}
_UNKNOWN = ("unknown", "<unknown>", "invalid", "?")


def copy_table(
    op_rows: IntColumn, size: IntColumn, name: SmallColumn, names: Sequence[str]
) -> CopyTable:
    """What only copies and memsets have; all columns of shape (copies,).

    Args:
        op_rows: their rows among the operations.
        size: bytes, -1 unknown.
        name: indexes into ``names``.
        names: names of all operations.
    """
    kinds: dict[str, int] = {}
    direction = np.full(len(names), CopyDirection.OTHER, np.int8)
    memories = np.full((2, len(names)), -1, np.int32)
    for number in np.unique(name).tolist():
        way, ends = _told(names[number])
        direction[number] = way
        for end, memory in zip(memories, ends, strict=True):
            if memory and memory.lower() not in _UNKNOWN:
                end[number] = kinds.setdefault(memory, len(kinds))
    chosen: npt.NDArray[np.int8] = direction[name]
    src, dst = memories[:, name]
    return CopyTable(op_rows.astype(np.int32), size, chosen, src, dst, tuple(kinds))


def _told(name: str) -> tuple[CopyDirection, tuple[str | None, str | None]]:
    """Direction and memories (source, destination) of a copy or memset."""
    if match := _COPY.match(name):
        return _WAYS.get(match["way"], CopyDirection.OTHER), (match["src"], match["dst"])
    if match := _SET.match(name):
        return CopyDirection.NONE, (None, match["dst"])
    if match := _AMD_COPY.match(name):
        return _WAYS[f"{match['src'][0]}to{match['dst'][0]}"], (None, None)
    return CopyDirection.OTHER, (None, None)
