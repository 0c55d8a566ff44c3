"""Which GPU an operation ran on: device numbers belong to processes, and some rows have none."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np

from launchlens.records.columns import Device, OpTable, SmallColumn
from launchlens.trace.formats.nsys.metadata import Facts
from launchlens.trace.formats.nsys.names import Registry, pid_of
from launchlens.trace.formats.nsys.operations import UNKNOWN_DEVICE


def resolve_devices(
    tables: Sequence[OpTable], processes: Registry, facts: Facts
) -> tuple[list[SmallColumn], tuple[Device, ...], list[str]]:
    """Devices as (process, device id), and which physical GPU each one is.

    A whole-graph row may carry no device (INT_MAX), nor a context that tells it: it belongs to the
    only device its process uses; with several it stays apart, and a warning says so.

    Args:
        tables: operations whose ``device`` is nsys's number.
        processes: the trace's processes.
        facts: which GPU each process's number means, as far as the trace tells.

    Returns:
        The device of each operation of each table, the devices, and what is in doubt.
    """
    notes: list[str] = []
    keys = [t.process.astype(np.int64) << 32 | t.device.astype(np.int64) for t in tables]
    distinct, inverse = np.unique(np.concatenate(keys), return_inverse=True)
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
    place = np.array([order.index(pair) for pair in final], np.int32)
    column = place[inverse] if place.size else np.empty(0, np.int32)
    bounds = np.cumsum([key.size for key in keys])[:-1]
    columns = [c.astype(np.int32) for c in np.split(column, bounds)]
    return columns, _devices(order, processes, facts), notes


def _devices(
    pairs: Sequence[tuple[int, int]], processes: Registry, facts: Facts
) -> tuple[Device, ...]:
    """Devices with their GPUs.

    Where several processes use several GPUs, and the trace does not map a process's numbers to
    GPUs, a device may be any: each then gets a number of its own, and is marked as uncertain.
    """
    several = len({process for process, _ in pairs}) > 1 and (
        len(facts.gpus) > 1 or len({device for _, device in pairs if device >= 0}) > 1
    )
    used = {*facts.gpus, *facts.gpu_of.values(), *(device for _, device in pairs)}
    free = (number for number in count() if number not in used)
    devices = []
    for process, device in pairs:
        pid = pid_of(processes.values[process])
        gpu = facts.gpu_of.get((pid, device))
        is_certain = gpu is not None or not several or device < 0
        if gpu is None:
            gpu = device if is_certain else next(free)
        names = set(facts.gpus.values())
        name = facts.gpus.get(gpu) if is_certain else names.pop() if len(names) == 1 else None
        streams = facts.default_streams.get((pid, device), ())
        devices.append(Device(process, device, gpu, name, is_certain, streams))
    return tuple(devices)
