"""Which call submitted a GPU operation. For formats that tell it by correlation ids."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from launchlens.intervals import hosts_of
from launchlens.records.columns import ApiTable, IdColumn, IntColumn, SmallColumn

Rows = npt.NDArray[np.int64]


def link_operations(
    api: ApiTable,
    process: SmallColumn,
    correlation_id: IdColumn,
    start_ns: IntColumn | None = None,
) -> tuple[SmallColumn, int]:
    """API row of each operation by (process, correlation id), -1 without; shape (operations,).

    Where several calls carry the same id, and lie within one another (a runtime call and the
    driver call beneath it), the outermost is meant. Where they do not, the id was used again: the
    operation belongs to the last such call that starts before it.

    Correlation ids are dense within a process, so a table indexed by id beats any join; sparse
    ids fall back to a sorted search.

    Args:
        api: the calls.
        process: the operations', numbered as in ``api``; shape (operations,).
        correlation_id: -1 without; shape (operations,).
        start_ns: when they start, if that is known; shape (operations,).

    Returns:
        The rows, and the number of ids that were used again.
    """
    found = np.full(process.size, -1, np.int32)
    reused = 0
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
            repeats = int(np.count_nonzero(table >= 0)) < have.size
        else:
            order = np.argsort(have, kind="stable")
            ids = have[order]
            at = np.clip(np.searchsorted(ids, wanted), 0, have.size - 1)
            match = order[at]
            hit = np.where(have[match] == wanted, rows[match], -1)
            repeats = bool((ids[1:] == ids[:-1]).any())
        hit[wanted == -1] = -1  # NULL on both sides links nothing
        if repeats:
            again = _used_again(api, rows)
            reused += _relink(
                api, hit, wanted, again, None if start_ns is None else start_ns[of_ops]
            )
        found[of_ops] = hit.astype(np.int32)
    return found, reused


def _used_again(api: ApiTable, own: SmallColumn) -> Rows:
    """Rows of the calls whose id another call has that is not nested with it, by id and start."""
    rows = _with_the_same_id(api, own[api.correlation_id[own] != -1])
    if rows.size == 0:
        return rows
    number, thread = api.correlation_id[rows], api.thread[rows]
    order = np.lexsort((api.start_ns[rows], thread, number))
    rows, number, thread = rows[order], number[order], thread[order]
    differs = (number[1:] != number[:-1]) | (thread[1:] != thread[:-1])
    group = np.concatenate([[0], np.cumsum(differs)])
    host = hosts_of(group, api.start_ns[rows], api.end_ns[rows])
    return _with_the_same_id(api, rows[host == np.arange(rows.size)])


def _with_the_same_id(api: ApiTable, rows: IdColumn) -> Rows:
    """Those of the rows that share their id with another of them, by id and start."""
    if rows.size == 0:
        return rows.astype(np.int64)
    order = np.lexsort((api.start_ns[rows], api.correlation_id[rows]))
    ids = api.correlation_id[rows[order]]
    same = ids[1:] == ids[:-1]
    shared: Rows = rows[order[np.append(same, False) | np.append(False, same)]].astype(np.int64)
    return shared


def _relink(
    api: ApiTable, hit: IdColumn, wanted: IdColumn, again: Rows, start_ns: IntColumn | None
) -> int:
    """Give operations whose id was used again to the last call before them; returns the ids."""
    if again.size == 0:
        return 0
    distinct, first = np.unique(api.correlation_id[again], return_index=True)
    ops = np.flatnonzero(np.isin(wanted, distinct))
    number = np.searchsorted(distinct, wanted[ops])
    hit[ops] = again[first[number]]
    if start_ns is not None:
        # Calls and operations in one row of time for each id: what comes last before an operation?
        ids = np.concatenate([np.searchsorted(distinct, api.correlation_id[again]), number])
        time = np.concatenate([api.start_ns[again], start_ns[ops]])
        is_op = np.arange(ids.size) >= again.size
        order = np.lexsort((is_op, time, ids))
        latest = np.maximum.accumulate(np.where(is_op[order], -1, np.arange(order.size)))
        place = np.empty(order.size, np.int64)
        place[order] = np.where(latest < 0, -1, order[latest])
        call = place[again.size :]
        # Where the call before it has another id, it starts before all calls of its own.
        mine = (call >= 0) & (ids[call] == number)
        hit[ops[mine]] = again[call[mine]]
    return int(distinct.size)


def _rows_of(process: SmallColumn, wanted: int) -> slice | Rows:
    if process.size and process.strides == (0,):
        return slice(None) if int(process[0]) == wanted else slice(0, 0)
    rows = np.flatnonzero(process == wanted)
    return slice(None) if rows.size == process.size else rows
