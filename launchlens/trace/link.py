"""Which call submitted a GPU operation. For formats that tell it by correlation ids."""

from __future__ import annotations

import numpy as np

from launchlens.records.columns import ApiTable, IdColumn, SmallColumn


def link_operations(api: ApiTable, process: SmallColumn, correlation_id: IdColumn) -> SmallColumn:
    """API row of each operation by (process, correlation id), -1 without; shape (operations,).

    Where several calls carry the same id (a runtime call and the driver call beneath it), the
    one that starts first is meant. Correlation ids are dense within a process, so a table
    indexed by id beats any join; sparse ids fall back to a sorted search.

    ``process`` is numbered as in ``api``, ``correlation_id`` -1 without, both (operations,).
    """
    found = np.full(process.size, -1, np.int32)
    for one in np.unique(process).tolist():
        of_ops = _rows_of(process, one)
        of_api = _rows_of(api.process, one)
        have = api.correlation_id[of_api]
        wanted = correlation_id[of_ops]
        wanted = wanted.astype(np.promote_types(wanted.dtype, have.dtype), copy=False)
        if have.size == 0 or wanted.size == 0:
            continue
        rows = np.arange(api.start_ns.size, dtype=np.int32)[of_api]
        low, high = int(have.min()), int(have.max())
        if high - low < 8 * have.size + 1_000_000:
            table = np.full(high - low + 1, -1, np.int32)
            table[(have - low)[::-1]] = rows[::-1]  # the last assignment wins: the first row
            inside = (wanted >= low) & (wanted <= high)
            hit = np.where(inside, table[np.clip(wanted - low, 0, high - low)], -1)
        else:
            order = np.argsort(have, kind="stable")
            at = np.clip(np.searchsorted(have[order], wanted), 0, have.size - 1)
            match = order[at]
            hit = np.where(have[match] == wanted, rows[match], -1)
        hit[wanted == -1] = -1  # NULL on both sides links nothing
        found[of_ops] = hit.astype(np.int32)
    return found


def _rows_of(
    process: SmallColumn, wanted: int
) -> slice | np.ndarray[tuple[int], np.dtype[np.int64]]:
    if process.size and process.strides == (0,):
        return slice(None) if int(process[0]) == wanted else slice(0, 0)
    rows = np.flatnonzero(process == wanted)
    return slice(None) if rows.size == process.size else rows
