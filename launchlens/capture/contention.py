"""Who else uses the interface through which nsys traces (CUPTI), and who else injects libraries."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

INJECTION_VARIABLES = (
    "CUDA_INJECTION64_PATH",
    "NVTX_INJECTION64_PATH",
    "KINETO_USE_DAEMON",
    "NVIDIA_TOOLS_INJECTION_PATH",
)

# Names of processes as in /proc/PID/comm, which the kernel cuts at 15 characters.
TRACING_PROGRAMS = ("nsys", "nsys-launcher", "ncu", "nvprof", "dcgmi", "dcgmproftester", "cuda-gdb")


def find_injections(environ: Mapping[str, str]) -> dict[str, str]:
    """Variables that make CUDA, NVTX or torch load another tool, with their values."""
    return {name: environ[name] for name in INJECTION_VARIABLES if environ.get(name)}


def find_tracing_processes(proc: Path = Path("/proc")) -> list[tuple[int, str]]:
    """Running processes (id, name) that are known to hold the tracing interface."""
    found = []
    for folder in proc.glob("[0-9]*"):
        try:
            name = (folder / "comm").read_text().strip()
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, IndexError):  # ended meanwhile
            continue
        known = any(name == program[:15] for program in TRACING_PROGRAMS)
        if known and state != "Z" and int(folder.name) != os.getpid():
            found.append((int(folder.name), name))
    return sorted(found)
