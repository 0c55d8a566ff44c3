"""Facts about the machine and the working folder that a run keeps beside its figures."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from launchlens.capture.process import read_output

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU as nvidia-smi describes it; memory_bytes is None where it does not tell."""

    index: int
    name: str
    driver: str
    memory_bytes: int | None


@dataclass(frozen=True, slots=True)
class GitState:
    """The state of a git working folder.

    Attributes:
        commit: full hash of HEAD; None before the first commit.
        dirty: whether tracked files are changed or untracked ones are there.
    """

    commit: str | None
    dirty: bool


def gpu_facts() -> tuple[Gpu, ...] | None:
    """The machine's GPUs from nvidia-smi; None when it is missing, fails, or sees none."""
    said = read_output(
        [
            "nvidia-smi",
            "--query-gpu=index,name,driver_version,memory.total",
            "--format=csv,noheader,nounits",
        ]
    )
    if said.exit_code != 0:
        return None
    gpus = []
    for line in said.text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 4 and fields[0].isdigit():
            mebibytes = fields[3]
            memory = int(mebibytes) * 1024**2 if mebibytes.isdigit() else None
            gpus.append(Gpu(int(fields[0]), fields[1], fields[2], memory))
    return tuple(gpus) or None


def git_state(cwd: Path) -> GitState | None:
    """Commit and dirtiness of the folder; None outside git repositories or without git."""
    env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    status = read_output(["git", "-C", cwd, "status", "--porcelain"], env=env)
    if status.exit_code != 0:
        return None
    head = read_output(["git", "-C", cwd, "rev-parse", "--verify", "--quiet", "HEAD"], env=env)
    commit = head.text.strip() if head.exit_code == 0 else None
    return GitState(commit, dirty=bool(status.text.strip()))
