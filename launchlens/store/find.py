"""Stored runs: listed, found by what a user calls them, removed."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from launchlens.errors import StoreError, reason_of
from launchlens.records.stored import RunRow, StoredRun, StoredVariant
from launchlens.serialize import adapter
from launchlens.store.database import DATABASE, open_database, read_rows, writing
from launchlens.store.files import RUN_FILE
from launchlens.store.load import load_run
from launchlens.store.paths import is_abandoned, is_run_id, run_folder
from launchlens.store.register import KILLED, reconcile, run_folders
from launchlens.suggestions import did_you_mean, near_names

LATEST = "latest"

_LIST = """
SELECT r.id, r.created, r.status, r.reason, r.model, r.gpu, r.git_commit, r.git_dirty,
       (SELECT json_group_array(name) FROM (SELECT name FROM variants WHERE run_id = r.id
        ORDER BY rowid)) AS variants,
       (SELECT json_group_array(name) FROM (SELECT name FROM variants WHERE run_id = r.id
        AND status <> 'ok' ORDER BY rowid)) AS failed,
       v.layers_note, v.layers, v.model_layers
FROM runs AS r LEFT JOIN (
    SELECT run_id, layers_note, layers, model_layers, min(rowid) FROM variants
    WHERE layers_note IS NOT NULL GROUP BY run_id) AS v ON v.run_id = r.id
ORDER BY r.created DESC, r.rowid DESC"""


def list_runs(root: Path) -> tuple[RunRow, ...]:
    """All runs of a root, newest first; what killed processes left of theirs is put in order.

    A root that does not exist has no runs, and is not made.

    Raises:
        StoreError: the run database cannot be read.
    """
    if not (root / DATABASE).exists() and not any(run_folders(root)):
        return ()
    with open_database(root) as db:
        with contextlib.suppress(sqlite3.OperationalError):  # a read-only place, or a full disk
            reconcile(db, root)
        return tuple(_run_row(root, row) for row in read_rows(db, _LIST))


def resolve_run(root: Path, reference: str) -> StoredRun:
    """The run that a user names.

    That is by its name, its unique beginning, its last three characters, "latest" (the newest
    complete run), the path of its folder, or the path of another root (its newest complete run).

    Raises:
        StoreError: no run or several are meant; the message names them.
    """
    if (Path(reference) / RUN_FILE).is_file():
        return load_run(Path(reference))
    root, reference = _other_root(root, reference)
    listed = list_runs(root)
    if reference == LATEST:
        complete = [row.id for row in listed if row.status == "complete" and not row.missing]
        if not complete:
            raise StoreError(f"There is no complete run in {root}.")
        return load_run(run_folder(root, complete[0]))
    names = [row.id for row in listed]
    found = [name for name in names if name == reference] or [
        name
        for name in names
        if reference and (name.startswith(reference) or name.endswith(f"-{reference}"))
    ]
    if len(found) == 1:
        return load_run(run_folder(root, found[0]))
    if found:
        raise StoreError(f"{reference!r} is the beginning of several runs: {_some(found)}.")
    there = f"There are: {_some(names)}." if names else "It has no runs."
    there = did_you_mean(near_names(reference, names)) or there
    raise StoreError(f"There is no run {reference!r} in {root}.", hint=there)


def resolve(root: Path, reference: str) -> StoredVariant:
    """The variant that a user names: ``RUN:variant``, or ``RUN`` when it has only one.

    RUN is as for `resolve_run`; ``latest:eager`` is the newest complete run with that variant.

    Raises:
        StoreError: no variant or several are meant.
    """
    name, _, variant = reference.partition(":")
    root, name = _other_root(root, name)
    if name == LATEST and variant:
        for row in list_runs(root):
            if row.status == "complete" and variant in row.variants and not row.missing:
                return load_run(run_folder(root, row.id)).variants[variant]
        raise StoreError(f"No complete run in {root} has the variant {variant}.")
    run = resolve_run(root, name)
    if variant in run.variants:
        return run.variants[variant]
    there = f"It has: {', '.join(run.variants) or 'none'}."
    if variant:
        raise StoreError(f"The run {run.id} has no variant {variant}.", hint=there)
    if len(run.variants) != 1:
        raise StoreError(
            f"Which variant of {run.id} is meant?", hint=f"{there} Write {run.id}:VARIANT."
        )
    return next(iter(run.variants.values()))


def remove_run(root: Path, reference: str) -> str:
    """Removes a run's folder and rows, and returns its name. Nothing outside the root ever goes.

    The run is named by its name or its unique beginning; by no path, and not as "latest".

    Raises:
        StoreError: no such run, it is running, or its folder is a link out of the root.
    """
    rows = {row.id: row for row in list_runs(root)}
    found = [name for name in rows if reference and name.startswith(reference)]
    if len(found) != 1 or not is_run_id(found[0]):
        said = f"is the beginning of several: {_some(found)}" if found else "is not there"
        raise StoreError(f"The run {reference!r} {said} in {root}.")
    row = rows[found[0]]
    folder = run_folder(root, row.id)
    if row.status == "running":
        raise StoreError(f"The run {row.id} is still running.", hint="Stop it first.")
    if folder.exists():
        try:
            shutil.rmtree(folder)
        except OSError as error:
            said = f"The run folder {folder} cannot be removed: {reason_of(error)}."
            raise StoreError(said) from error
    with open_database(root) as db, writing(db):
        db.table("runs").delete_where("id = ?", [row.id])
    return row.id


def _other_root(root: Path, name: str) -> tuple[Path, str]:
    """A path of a runs root stands for its newest run."""
    if name and (Path(name) / DATABASE).is_file():
        return Path(name), LATEST
    return root, name


def _run_row(root: Path, row: dict[str, Any]) -> RunRow:
    """A row of `_LIST`: its columns are the fields of `RunRow`, but for the folder.

    The folder is the one with the run's name: a stranger's row may name any other.
    """
    for key in ("variants", "failed"):
        row[key] = tuple(json.loads(row[key]))
    try:
        there = (run_folder(root, row["id"]) / RUN_FILE).is_file()
    except StoreError:
        there = False
    if row["status"] == "running" and there and is_abandoned(root / row["id"]):
        row |= {"status": "incomplete", "reason": KILLED}
    try:
        checked: RunRow = adapter(RunRow).validate_python(row | {"missing": not there})
    except ValueError as error:
        said = f"The run database {root / DATABASE} has a damaged row ({row['id']!r:.60})."
        raise StoreError(said, hint="Move the database away; run folders stay usable.") from error
    return checked


def _some(names: Iterable[str], most: int = 5) -> str:
    listed = list(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
