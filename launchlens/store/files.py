"""Files of a run's folder: written whole or not at all, read back into records."""

from __future__ import annotations

import contextlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from launchlens.errors import StoreError, reason_of
from launchlens.serialize import adapter, read
from launchlens.store.paths import new_run_id

RUN_FILE = "run.json"
RUN_SCHEMA = "launchlens.run/1"
TRACES, RESULTS, LOGS = "traces", "results", "logs"


def make_folder(root: Path, model: str, started: datetime) -> Path:
    """Makes an empty run folder, named after the time and the model.

    Raises:
        StoreError: it cannot be made.
    """
    try:
        if not root.exists():
            root.mkdir(parents=True, exist_ok=True)
            # Otherwise the runs themselves would make the next run's working folder "changed".
            (root / ".gitignore").write_text("*\n", "utf-8")
        for _ in range(20):
            folder = root / new_run_id(model, started.astimezone(UTC))
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                for name in (TRACES, RESULTS, LOGS):
                    (folder / name).mkdir()
                return folder
    except OSError as error:
        raise StoreError(
            f"No run folder can be made in {root}: {reason_of(error)}.",
            hint="Name another folder with --runs or LAUNCHLENS_RUNS.",
        ) from error
    raise StoreError(f"No free name for a run was found in {root}.", hint="Try again.")


def write_json(path: Path, document: Any) -> None:
    """Writes a JSON document (or JSON as text), all of it or nothing.

    Raises:
        StoreError: the file cannot be written.
    """
    text = document if isinstance(document, str) else json.dumps(document, indent=1)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text + "\n", encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {reason_of(error)}.") from error


def write_record(path: Path, record: Any, kind: Any = None) -> None:
    """Writes a record (of the type ``kind``, its own if None) as JSON.

    Raises:
        StoreError: the file cannot be written.
    """
    kind = type(record) if kind is None else kind
    write_json(path, adapter(kind).dump_json(record, indent=1).decode())


def read_record(path: Path, kind: Any) -> Any:
    """Reads a record of the type ``kind`` from JSON.

    Raises:
        OSError: the file cannot be read.
        ValueError: it does not hold such a record.
    """
    return read(kind, path.read_bytes())


def inside(folder: Path, relative: str) -> Path:
    """A file of the folder. A run.json from elsewhere must not point out of its folder.

    Raises:
        ValueError: it does.
    """
    path = folder / relative
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{relative} points out of the folder")
    return path
