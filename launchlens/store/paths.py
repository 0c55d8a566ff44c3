"""Where runs lie, how a run is named, and whether its process still lives."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from launchlens.errors import StoreError

RUNS_VARIABLE = "LAUNCHLENS_RUNS"
DEFAULT_ROOT = "launchlens-runs"
LOCK_FILE = ".lock"

_LOCK_FLAGS = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # without characters that are read as another
_RUN_ID = re.compile(r"\d{8}-\d{6}-[a-z0-9-]+-[a-z0-9]{3}")


def runs_root(path: Path | None = None, environ: Mapping[str, str] = os.environ) -> Path:
    """The folder that holds runs: the argument, else $LAUNCHLENS_RUNS, else ./launchlens-runs."""
    return path or Path(environ.get(RUNS_VARIABLE) or DEFAULT_ROOT)


def new_run_id(model: str, now: datetime) -> str:
    """A run's name: time in UTC, the model as a slug, three random characters."""
    last = model.rstrip("/").rsplit("/", 1)[-1]
    slug = re.sub(r"[^a-z0-9]+", "-", last.lower()).strip("-")[:40].rstrip("-") or "model"
    suffix = "".join(secrets.choice(_ALPHABET) for _ in range(3))
    return f"{now:%Y%m%d-%H%M%S}-{slug}-{suffix}"


def time_of(run_id: str) -> str:
    """When a run of this name began, ISO 8601 in UTC."""
    with contextlib.suppress(ValueError):
        began = datetime.strptime(run_id[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
        return began.isoformat(timespec="seconds")
    return ""


def is_run_id(text: str) -> bool:
    """Whether the text has the shape of a run's name, and so cannot leave the root."""
    return _RUN_ID.fullmatch(text) is not None


def file_stem(name: str) -> str:
    """A variant's name as part of a file name (``my_module:prepare`` has a colon)."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip(".") or "variant"


def run_folder(root: Path, run_id: str) -> Path:
    """The folder of a run, certainly one directly below the root.

    Raises:
        StoreError: the name is none of a run, or the folder is a link to somewhere else.
    """
    folder = root / run_id
    if not is_run_id(run_id):
        raise StoreError(f"{run_id!r} is no run of {root}.")
    if folder.is_symlink() or folder.resolve().parent != root.resolve():
        raise StoreError(f"The run {run_id} lies outside of {root}: it is a link.")
    return folder


def hold_lock(folder: Path) -> int:
    """Takes the lock that a run holds while its process lives; the kernel drops it at its death.

    Returns:
        The open file descriptor, not inherited by child processes. Where the file system knows
        no locks nothing is held, and a killed run stays "running".
    """
    descriptor = os.open(folder / LOCK_FILE, os.O_CREAT | _LOCK_FLAGS, 0o644)
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def is_abandoned(folder: Path) -> bool:
    """Whether no process holds the run's lock any more. False when that cannot be told."""
    try:
        descriptor = os.open(folder / LOCK_FILE, _LOCK_FLAGS)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
