"""Which process and thread an event belongs to; GPU operations name a GPU and a stream instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from launchlens.errors import TraceError
from launchlens.records.columns import IntColumn, Process, SmallColumn, Thread
from launchlens.trace.interface import TraceFile


@dataclass(frozen=True, slots=True)
class Owners:
    """Processes and threads of a trace, numbered by their ids."""

    pids: IntColumn
    """Process ids, ascending."""
    threads: IntColumn
    """`thread_keys`, ascending, so that threads of a process are neighbours."""

    @classmethod
    def of(cls, *tables: tuple[IntColumn, IntColumn]) -> Owners:
        """Of the (pid, tid) columns of tables; those without a thread or process have none."""
        pid, tid = (np.concatenate([table[i] for table in tables]) for i in (0, 1))
        known = (pid >= 0) & (tid >= 0)
        pids = np.unique(pid[known])
        if pids.size == 0:
            pids = np.zeros(1, np.int64)
        return cls(pids, np.unique(thread_keys(pid[known], tid[known])))

    def thread_of(self, pid: IntColumn, tid: IntColumn) -> SmallColumn:
        """Thread of each event, -1 for those without."""
        known = (pid >= 0) & (tid >= 0)
        at = np.searchsorted(self.threads, thread_keys(pid, tid))
        return np.where(known, at, -1).astype(np.int32)

    def process_of(self, thread: SmallColumn) -> SmallColumn:
        """Process of each thread's events; all have one."""
        return np.searchsorted(self.pids, self.threads >> 32).astype(np.int32)[thread]

    def records(self, names: Mapping[int, str]) -> tuple[tuple[Process, ...], tuple[Thread, ...]]:
        """Processes, with their names as far as they are known, and threads."""
        processes = tuple(Process(pid, pid, names.get(pid)) for pid in self.pids.tolist())
        threads = tuple(
            Thread(key, key & 0xFFFFFFFF, int(np.searchsorted(self.pids, key >> 32)))
            for key in self.threads.tolist()
        )
        return processes, threads

    def submitters(
        self, file: TraceFile, call_pid: IntColumn, call_id: IntColumn, op_id: IntColumn
    ) -> SmallColumn:
        """Process of each operation: the one that has a call with its correlation id.

        Raises:
            TraceError: several processes have one.
        """
        owner = np.zeros(op_id.size, np.int32)
        pids = np.unique(call_pid[call_pid >= 0])
        if pids.size == 1:
            owner[:] = np.searchsorted(self.pids, pids[0])
        found = np.zeros(op_id.size, np.int32)
        for pid in pids.tolist() if pids.size > 1 else ():
            mine = np.isin(op_id, call_id[call_pid == pid])
            owner[mine] = np.searchsorted(self.pids, pid)
            found += mine
        if (found > 1).any():
            raise TraceError(
                f"{file.named} joins traces of {pids.size} processes whose correlation ids are "
                "alike, so that nothing tells whose work an operation is.",
                hint="Name the file of one process (rank).",
            )
        return owner


def thread_keys(pid: IntColumn, tid: IntColumn) -> IntColumn:
    """A number for each thread, by process id, then thread id (`Thread.key`)."""
    return (pid << 32) | (tid & 0xFFFFFFFF)
