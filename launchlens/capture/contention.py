"""Who else uses the interface through which nsys traces (CUPTI), and who else injects libraries."""

from __future__ import annotations

import os
from collections.abc import Mapping

INJECTION_VARIABLES = (
    "CUDA_INJECTION64_PATH",
    "NVTX_INJECTION64_PATH",
    "KINETO_USE_DAEMON",
    "NVIDIA_TOOLS_INJECTION_PATH",
)

TRACING_PROGRAMS = ("nsys", "nsys-launcher", "ncu", "nvprof", "dcgmi", "dcgmproftester", "cuda-gdb")


def find_injections(environ: Mapping[str, str]) -> dict[str, str]:
    """Variables that make CUDA, NVTX or torch load another tool, with their values."""
    return {name: environ[name] for name in INJECTION_VARIABLES if environ.get(name)}


def find_tracing_processes() -> list[tuple[int, str]]:
    """Running processes (id, name) that are known to hold the tracing interface."""
    import psutil

    return sorted(
        (each.pid, each.info["name"])
        for each in psutil.process_iter(["name", "status"])
        if each.info["name"] in TRACING_PROGRAMS
        and each.info["status"] != psutil.STATUS_ZOMBIE
        and each.pid != os.getpid()
    )
