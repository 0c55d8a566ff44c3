"""GPUs of a Kineto file: its events number them as their process does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from launchlens.records.columns import Device, OpTable, SmallColumn


def place_devices(
    tables: Sequence[OpTable], numbers: Sequence[int], names: Mapping[int, str]
) -> tuple[list[OpTable], tuple[Device, ...]]:
    """Operations with their device as an index of the devices, which belong to processes.

    Args:
        tables: operations whose ``device`` is an index of ``numbers``.
        numbers: the GPUs' numbers.
        names: the GPUs' names, as far as the file tells.
    """
    keys = [t.process.astype(np.int64) << 32 | t.device for t in tables]
    distinct = np.unique(np.concatenate(keys))
    pairs = [(key >> 32, numbers[key & 0xFFFFFFFF]) for key in distinct.tolist()]
    # Several processes may each see their GPUs under numbers of their own.
    several = len({process for process, _ in pairs}) > 1 and len({n for _, n in pairs}) > 1
    devices = tuple(
        Device(process, number, i if several else number, names.get(number), not several)
        for i, (process, number) in enumerate(pairs)
    )
    placed: list[SmallColumn] = [np.searchsorted(distinct, key).astype(np.int32) for key in keys]
    return [replace(t, device=d) for t, d in zip(tables, placed, strict=True)], devices


def gpu_names(facts: Mapping[str, Any]) -> dict[int, str]:
    """Names of GPUs by their numbers (``deviceProperties``)."""
    listed = facts.get("deviceProperties")
    found = {}
    for one in listed if isinstance(listed, list) else ():
        number, name = (one.get(k) for k in ("id", "name")) if isinstance(one, dict) else (0, 0)
        if isinstance(number, int) and isinstance(name, str):
            found[number] = name
    return found
