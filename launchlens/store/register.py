"""A run's rows: written while it is recorded, and brought in line with its folder after a kill.

The folder is what counts. Whatever it has is written to it first; the database follows.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from sqlite3 import Error
from typing import TYPE_CHECKING, Any

from launchlens.errors import StoreError
from launchlens.records.figures import Analysis, Group
from launchlens.records.forecast import Forecast
from launchlens.records.variant import VariantFacts
from launchlens.store import rows
from launchlens.store.database import read_rows, writing
from launchlens.store.files import RUN_FILE, STAGING, inside, read_record, write_json
from launchlens.store.forecasts import put_forecast
from launchlens.store.load import load_run
from launchlens.store.paths import is_abandoned, is_run_id, run_folder, time_of

if TYPE_CHECKING:
    from sqlite_utils import Database

STAGING_GRACE_S = 10.0  # a folder that is being made gets its lock within this time
KILLED = "its process ended without finishing it"


def put_variant(db: Database, run_id: str, name: str, status: str, facts: VariantFacts) -> None:
    """Rows of a variant in place of older ones, but for those of its traces."""
    key = rows.variant_id(run_id, name)
    # An upsert, not a replacement: that would cascade to the variant's steps.
    db.table("variants").upsert(rows.variant_row(run_id, name, status, facts), pk="id")
    for table, lines in (
        ("requests", rows.request_rows(key, facts)),
        ("equivalence", rows.equivalence_rows(key, facts)),
    ):
        db.table(table).delete_where("variant_id = ?", [key])
        db.table(table).insert_all(lines)
    figures = db.table("figures")
    figures.delete_where("variant_id = ? AND trace_kind = ?", [key, rows.UNTRACED])
    figures.insert_all(rows.untraced_rows(key, facts))


def put_trace(
    db: Database, run_id: str, variant: str, kind: str, file: str, analysis: Analysis
) -> None:
    """Rows of a trace, of all its steps and of their medians, in place of older ones."""
    key = rows.variant_id(run_id, variant)
    for table in ("traces", "steps", "figures"):
        db.table(table).delete_where("variant_id = ? AND trace_kind = ?", [key, kind])
    db.table("traces").insert(rows.trace_row(key, kind, file, analysis.trace))
    db.table("steps").insert_all(
        rows.step_row(run_id, variant, kind, row, step) for row, step in enumerate(analysis.steps)
    )
    db.table("figures").insert_all(rows.figure_rows(key, kind, analysis.summary))


def put_side_figures(db: Database, run_id: str, variant: str, groups: Sequence[Group]) -> None:
    """Rows of figures that rest on a trace and on untraced times, in place of older ones."""
    key, figures = rows.variant_id(run_id, variant), db.table("figures")
    figures.delete_where("variant_id = ? AND trace_kind = ?", [key, rows.BOTH])
    figures.insert_all(rows.figure_rows(key, rows.BOTH, groups))


def reconcile(db: Database, root: Path) -> None:
    """Make rows and folders tell the same again where a process was killed.

    Runs whose process is gone become incomplete, folders without a row get one, and what was left
    of a folder that was never finished goes.
    """
    known = {row["id"]: row["status"] for row in read_rows(db, "SELECT id, status FROM runs")}
    for folder in run_folders(root):
        if folder.name not in known:
            with writing(db):
                _adopt(db, folder)
    for name, status in known.items():
        if status == "running" and is_run_id(name) and is_abandoned(root / name):
            with contextlib.suppress(StoreError):  # a link out of the root, or a full disk
                _mark_incomplete(db, run_folder(root, name))
    for left in root.glob(f"{STAGING}*"):
        if time.time() - left.lstat().st_mtime > STAGING_GRACE_S and is_abandoned(left):
            shutil.rmtree(left, ignore_errors=True)


def run_folders(root: Path) -> Iterator[Path]:
    """Folders of the root whose names are those of runs; no links."""
    for entry in root.iterdir() if root.is_dir() else ():
        if is_run_id(entry.name) and entry.is_dir() and not entry.is_symlink():
            yield entry


def _mark_incomplete(db: Database, folder: Path) -> None:
    """Writes into a killed run's folder and rows that it is incomplete."""
    with writing(db):
        with contextlib.suppress(
            OSError, ValueError, TypeError, RecursionError
        ):  # no folder or half of one: the row tells
            document = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
            if document["status"] == "running":
                document |= {"status": "incomplete", "reason": KILLED}
                write_json(folder / RUN_FILE, document)
        stored = {
            row["name"]
            for row in read_rows(db, "SELECT name FROM variants WHERE run_id = ?", [folder.name])
        }
        with contextlib.suppress(StoreError):
            if stored != set(load_run(folder).variants):  # killed between the two
                _adopt(db, folder)
                return
        db.execute(
            "UPDATE runs SET status = 'incomplete', reason = ? WHERE id = ? AND status = 'running'",
            [KILLED, folder.name],
        )


def _adopt(db: Database, folder: Path) -> None:
    """All rows of a run from its folder; one row that says what is wrong if it is damaged."""
    name = folder.name
    db.table("runs").delete_where("id = ?", [name])
    db.execute("SAVEPOINT adopted")
    try:
        document = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
        run = load_run(folder)
        said = {"id": name, "status": run.status, "reason": run.reason or _reason(run.status)}
        db.table("runs").insert(rows.run_row(document | said, name))
        for variant in run.variants.values():
            put_variant(db, name, variant.name, variant.status, variant.facts)
            for trace in variant.traces.values():
                analysis: Analysis = read_record(trace.analysis_file, Analysis)
                file = trace.file.relative_to(folder).as_posix()
                put_trace(db, name, variant.name, trace.kind, file, analysis)
            if kept := document["variants"][variant.name].get("forecast"):
                forecast: Forecast = read_record(inside(folder, kept), Forecast)
                put_forecast(db, name, variant.name, forecast)
    except (
        StoreError,
        OSError,
        ValueError,
        LookupError,
        TypeError,
        RecursionError,
        Error,
    ) as error:
        db.execute("ROLLBACK TO adopted")
        missing = isinstance(error, FileNotFoundError)
        why = "its process ended as it began" if missing else "its folder is damaged"
        db.table("runs").insert(rows.bare_row(name, time_of(name), why))


def _reason(status: str) -> Any:
    return KILLED if status == "incomplete" else None
