"""Files of a run's folder: written whole or not at all, read back into records."""

from __future__ import annotations

import contextlib
import json
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from launchlens.errors import StoreError, reason_of
from launchlens.serialize import adapter, read
from launchlens.store.paths import hold_lock

RUN_FILE = "run.json"
RUN_SCHEMA = "launchlens.run/1"
STAGING = ".new-"  # beginning of the name of a folder that is not a run yet
TRACES, RESULTS, LOGS = "traces", "results", "logs"


@contextlib.contextmanager
def staged_folder(root: Path) -> Iterator[tuple[Path, int]]:
    """A new run's folder under a hidden name, with its lock; it goes unless it is renamed.

    Raises:
        StoreError: it cannot be made.
    """
    folder = root / f"{STAGING}{secrets.token_hex(8)}"
    try:
        folder.mkdir()
        lock = hold_lock(folder)
        for name in (TRACES, RESULTS, LOGS):
            (folder / name).mkdir()
        yield folder, lock
    except OSError as error:
        raise StoreError(
            f"No run folder can be made in {root}: {reason_of(error)}.",
            hint="Name another folder with --runs or LAUNCHLENS_RUNS.",
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_json(path: Path, document: Any) -> None:
    """Writes a JSON document (or JSON as text), all of it or nothing; never through a link.

    Raises:
        StoreError: the file cannot be written.
    """
    text = document if isinstance(document, str) else json.dumps(document, indent=1)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with temporary.open("x", encoding="utf-8") as file:  # "x" follows no link
            file.write(text + "\n")
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
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
