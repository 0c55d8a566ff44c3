"""Reads how large each kernel and memset was (CUPTI_ACTIVITY_KIND_KERNEL and …_MEMSET)."""

from __future__ import annotations

from launchlens.records.launch_sizes import LaunchSize
from launchlens.trace.formats.nsys.layouts import select
from launchlens.trace.formats.nsys.names import pid_of
from launchlens.trace.formats.nsys.schema import KERNEL, MEMSET
from launchlens.trace.formats.nsys.source import opened
from launchlens.trace.interface import TraceFile

_KEY = ("globalPid", "correlationId")
_GRID = ("gridX", "gridY", "gridZ")
_BLOCK = ("blockX", "blockY", "blockZ")
_SHARED = ("staticSharedMemory", "dynamicSharedMemory")


def read_sizes(file: TraceFile) -> dict[tuple[int, int], LaunchSize]:
    """Sizes of kernels and memsets; those of a call that launched several are left out.

    Raises:
        TraceError: the file cannot be read as SQLite.
    """
    found: dict[tuple[int, int], LaunchSize] = {}
    several: set[tuple[int, int]] = set()

    def add(process: object, correlation: object, size: LaunchSize) -> None:
        if isinstance(process, int) and isinstance(correlation, int):
            key = pid_of(process), correlation
            several.update([key] if key in found else ())
            found[key] = size

    with opened(file) as connection:
        columns = (*_KEY, *_GRID, *_BLOCK, *_SHARED)
        for process, correlation, gx, gy, gz, bx, by, bz, static, dynamic in select(
            connection, KERNEL, columns
        ):
            grid = None if None in (gx, gy, gz) else (gx, gy, gz)
            block = None if None in (bx, by, bz) else (bx, by, bz)
            shared = None if None in (static, dynamic) else static + dynamic
            add(process, correlation, LaunchSize(grid, block, shared))
        for process, correlation, size in select(connection, MEMSET, (*_KEY, "bytes")):
            add(process, correlation, LaunchSize(bytes=size))
    return {key: size for key, size in found.items() if key not in several}
