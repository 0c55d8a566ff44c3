"""Calls that an export holds twice.

nsys records a call once more (eventClass 67) when it takes backtraces: on the same thread, with the
same correlation id and base name, within the time of the other row.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from launchlens.calls import base_name
from launchlens.intervals import hosts_of
from launchlens.records.columns import ApiTable


def merge_twins(api: ApiTable) -> ApiTable:
    """Rows of one call as one, from the earlier start to the later end."""
    rows = _repeated(api)
    if rows.size == 0:
        return api
    bases = {base: code for code, base in enumerate(dict.fromkeys(map(base_name, api.names)))}
    base = np.array([bases[base_name(n)] for n in api.names], np.int64)[api.name[rows]]
    number, thread = api.correlation_id[rows], api.thread[rows]
    order = np.lexsort((api.start_ns[rows], base, number, thread))
    rows, base, number, thread = rows[order], base[order], number[order], thread[order]
    differs = (thread[1:] != thread[:-1]) | (number[1:] != number[:-1]) | (base[1:] != base[:-1])
    group = np.concatenate([[0], np.cumsum(differs)])
    host = hosts_of(group, api.start_ns[rows], api.end_ns[rows])
    twin = np.flatnonzero(host != np.arange(rows.size))
    if twin.size == 0:
        return api
    first, second = rows[host[twin]], rows[twin]
    ends, chains = api.end_ns.copy(), np.array(api.callchain_id)
    np.maximum.at(ends, first, api.end_ns[second])
    np.maximum.at(chains, first, chains[second])
    result = None if api.result is None else np.array(api.result)
    if result is not None:
        np.maximum.at(result, first, result[second])
    keep = np.ones(api.start_ns.size, bool)
    keep[second] = False
    return replace(
        api,
        start_ns=api.start_ns[keep],
        end_ns=ends[keep],
        process=api.process[keep],
        thread=api.thread[keep],
        correlation_id=api.correlation_id[keep],
        name=api.name[keep],
        callchain_id=chains[keep],
        result=None if result is None else result[keep],
    )


def _repeated(api: ApiTable) -> npt.NDArray[np.int64]:
    """Rows whose correlation id their thread has more than once.

    Ids ascend on a thread, so that the common case is settled by a comparison of neighbours.
    """
    ids, thread = api.correlation_id, api.thread
    if ((ids[1:] > ids[:-1]) | (thread[1:] != thread[:-1])).all():
        return np.empty(0, np.int64)
    order = np.lexsort((ids, thread))
    same = (ids[order][1:] == ids[order][:-1]) & (thread[order][1:] == thread[order][:-1])
    same &= ids[order][1:] != -1
    both = np.concatenate([same, [False]]) | np.concatenate([[False], same])
    rows: npt.NDArray[np.int64] = order[both]
    return rows
