"""Facts about the machine and the working folder that a run keeps beside its figures."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from launchlens.capture.process import read_output


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU as its driver describes it; memory_bytes is None where it does not tell."""

    index: int
    name: str
    driver: str
    memory_bytes: int | None


@dataclass(frozen=True, slots=True)
class GitState:
    """A git working folder: HEAD's full hash (None before the first commit), whether it changed.

    Untracked files are changes too.
    """

    commit: str | None
    dirty: bool


def gpu_facts() -> tuple[Gpu, ...] | None:
    """The machine's GPUs as NVML, the driver's library, knows them; None without NVML or GPU."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:  # no driver, or one that does not answer
        return None
    try:
        driver = pynvml.nvmlSystemGetDriverVersion()
        gpus = []
        for index in range(pynvml.nvmlDeviceGetCount()):
            device = pynvml.nvmlDeviceGetHandleByIndex(index)
            gpus.append(Gpu(index, pynvml.nvmlDeviceGetName(device), driver, _memory_of(device)))
        return tuple(gpus) or None
    except pynvml.NVMLError:
        return None
    finally:
        pynvml.nvmlShutdown()


def _memory_of(device: Any) -> int | None:
    import pynvml

    try:
        return int(pynvml.nvmlDeviceGetMemoryInfo(device).total)
    except pynvml.NVMLError:  # some MIG devices do not tell
        return None


def cpu_name() -> str | None:
    """The CPU as the kernel names it; None where it does not."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, None) or None


def git_state(cwd: Path) -> GitState | None:
    """Commit and dirtiness of the folder; None outside git repositories or without git."""
    env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    status = read_output(["git", "-C", cwd, "status", "--porcelain"], env=env)
    if status.exit_code != 0:
        return None
    head = read_output(["git", "-C", cwd, "rev-parse", "--verify", "--quiet", "HEAD"], env=env)
    commit = head.text.strip() if head.exit_code == 0 else None
    return GitState(commit, dirty=bool(status.text.strip()))
