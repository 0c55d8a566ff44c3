"""Which GPU an operation ran on: device numbers belong to processes, and some rows have none."""

from __future__ import annotations

import numpy as np

from launchlens.records.columns import Device, OpTable, SmallColumn
from launchlens.trace.formats.nsys.metadata import Facts
from launchlens.trace.formats.nsys.names import Registry, pid_of
from launchlens.trace.formats.nsys.operations import UNKNOWN_DEVICE


def resolve_devices(
    ops: OpTable, processes: Registry, facts: Facts
) -> tuple[SmallColumn, tuple[Device, ...], list[str]]:
    """Devices as (process, device id), and which physical GPU each one is.

    A whole-graph row may carry no device (INT_MAX), nor a context that tells it: it belongs to the
    only device its process uses; with several it stays apart, and a warning says so.
    """
    notes: list[str] = []
    key = ops.process.astype(np.int64) << 32 | ops.device.astype(np.int64)
    distinct, inverse = np.unique(key, return_inverse=True)
    pairs = [(k >> 32, k & 0xFFFFFFFF) for k in distinct.tolist()]
    known: dict[int, list[int]] = {}
    for process, device in pairs:
        if device != UNKNOWN_DEVICE:
            known.setdefault(process, []).append(device)
    final: list[tuple[int, int]] = []
    for process, device in pairs:
        if device == UNKNOWN_DEVICE:
            pid = pid_of(processes.values[process])
            candidates = known.get(process) or [c for p, c in facts.gpu_of if p == pid] or [0]
            device = candidates[0] if len(set(candidates)) == 1 else -1  # noqa: PLW2901
            if device < 0:
                notes.append(
                    f"process {pid}: operations without a device id, although the process uses "
                    "several devices; busy and idle are unknown where they ran."
                )
        final.append((process, device))
    order = list(dict.fromkeys(final))
    table = np.array([order.index(pair) for pair in final], np.int32)
    devices = []
    for process, device in order:
        pid = pid_of(processes.values[process])
        gpu = facts.gpu_of.get((pid, device), device)
        streams = facts.default_streams.get((pid, device), ())
        devices.append(Device(process, device, gpu, facts.gpus.get(gpu), streams))
    column = table[inverse] if table.size else np.empty(0, np.int32)
    return column.astype(np.int32), tuple(devices), notes
