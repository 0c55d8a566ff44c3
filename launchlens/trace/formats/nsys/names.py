"""What the tables share: processes and threads numbered, texts looked up by their ids."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from launchlens.records.columns import SmallColumn
from launchlens.trace.formats.nsys.scan import NULL, Column, as_text, scan_table
from launchlens.trace.formats.nsys.schema import STRINGS, Schema
from launchlens.trace.interface import TraceFile

PROCESS_MASK = ~0xFFFFFF
"""What of a globalTid names its process (its globalPid)."""


def pid_of(global_id: int) -> int:
    """The system's process id within a globalPid or globalTid."""
    return (global_id >> 24) & 0xFFFFFF


class Registry:
    """Numbers things by the order of their first sight (processes, threads)."""

    def __init__(self) -> None:
        self.values: list[int] = []
        self._index: dict[int, int] = {}

    def codes(self, codes: SmallColumn, distinct: list[object]) -> SmallColumn:
        """Translate dictionary codes into this registry's numbers; NULL stays -1."""
        table = np.empty(len(distinct) + 1, np.int32)
        table[-1] = -1
        for i, value in enumerate(distinct):
            assert isinstance(value, int)  # a "key" column
            table[i] = self.index(value)
        return table[codes]

    def index(self, value: int) -> int:
        """The number of one value, a new one at first sight."""
        if value not in self._index:
            self._index[value] = len(self.values)
            self.values.append(value)
        return self._index[value]


@dataclass(slots=True)
class Names:
    """StringIds of the export, looked up by id; the text of unknown ids says so."""

    ids: npt.NDArray[np.int64]
    texts: list[object]

    def text(self, ids: list[object]) -> tuple[str, ...]:
        """Texts of these ids, in order."""
        return tuple(
            text if text is not None else "" if i is None else f"<string {i}>"
            for i, text in zip(ids, self.known(ids), strict=True)
        )

    def known(self, ids: list[object]) -> tuple[str | None, ...]:
        """Texts of these ids, None for those that have none."""
        if self.ids.size == 0:
            return (None,) * len(ids)
        wanted = np.array([NULL if i is None else i for i in ids], np.int64)
        at = np.clip(np.searchsorted(self.ids, wanted), 0, self.ids.size - 1)
        found = self.ids[at] == wanted
        return tuple(
            as_text(self.texts[k]) if ok else None
            for k, ok in zip(at.tolist(), found.tolist(), strict=True)
        )


def read_names(file: TraceFile, schema: Schema) -> Names:
    """Table StringIds; texts stay bytes until they are asked for."""
    if STRINGS not in schema.rows:
        return Names(np.empty(0, np.int64), [])
    columns: list[Column] = [("id", "int"), ("CAST(value AS BLOB)", "code")]
    table = scan_table(file, schema, STRINGS, columns)
    ids, code = table.take(0), table.take(1)
    order = np.argsort(ids, kind="stable")
    texts = [*table.values[1], None]
    return Names(ids[order], [texts[i] for i in code[order].tolist()])


def constant(value: int, size: int) -> SmallColumn:
    """A column of one value that takes no memory."""
    return np.broadcast_to(np.int32(value), (size,))
