"""The run database: opened, migrated, and written in short transactions."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from launchlens.errors import StoreError, reason_of
from launchlens.store.schema import add_columns, migrations, missing_columns

if TYPE_CHECKING:
    from sqlite_utils import Database

DATABASE = "runs.db"
LOCK_WAIT_S = 30.0
_ELSEWHERE = "Name another folder with --runs or LAUNCHLENS_RUNS."


@contextlib.contextmanager
def open_database(root: Path) -> Iterator[Database]:
    """Opens the run database of a runs root, made and brought up to date where needed.

    The journal stays SQLite's default (rollback), not WAL: runs are often kept on network file
    systems, where WAL does not work. A killed writer is rolled back by whoever opens it next.

    Raises:
        StoreError: the folder or file cannot be used, or a newer launchlens wrote it.
    """
    from sqlite_utils import Database

    path = root / DATABASE
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"No run folder can be made in {root}: {reason_of(error)}.", hint=_ELSEWHERE
        ) from error
    try:
        if path.is_symlink():
            raise StoreError(f"The run database {path} is a link.", hint="Name its own folder.")
        connection = sqlite3.connect(path, timeout=LOCK_WAIT_S)
        connection.text_factory = _decode
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"The run database {path} cannot be opened: {reason_of(error)}.",
            hint=_ELSEWHERE,
        ) from error
    with contextlib.closing(connection):
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            # Plug-ins of sqlite-utils that a user may have installed have no business here.
            db = Database(connection, execute_plugins=False)
            _refuse_programs(db, path)
            _migrate(db, path)
            yield db
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
            raise  # a bug of ours, which keeps its traceback
        except sqlite3.DatabaseError as error:
            raise StoreError(
                f"The run database {path} cannot be used: {error}.", hint=_remedy(error)
            ) from error


@contextlib.contextmanager
def writing(db: Database) -> Iterator[None]:
    """One write transaction, its lock taken at once so that two writers wait for each other."""
    db.conn.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.rollback()
        raise
    db.commit()


def read_rows(db: Database, sql: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
    """Rows of a query by column; what is no text or number (a stranger's blob) becomes text."""
    return [
        {k: _decode(v) if isinstance(v, bytes) else v for k, v in row.items()}
        for row in db.query(sql, values)
    ]


def _remedy(error: sqlite3.Error) -> str:
    if getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY"):
        return "Another program is writing to it: wait for its end, and try again."
    return "If it is no run database, move it away; run folders stay usable without it."


def _refuse_programs(db: Database, path: Path) -> None:
    """A run database has neither views nor triggers; a stranger's might never end, or write."""
    sql = "SELECT type, name FROM sqlite_master WHERE type IN ('view', 'trigger') LIMIT 1"
    for kind, name in db.execute(sql):
        raise StoreError(
            f"The run database {path} has a {kind} ({name!r:.60}), which launchlens never makes.",
            hint="Drop it, or move the database away; run folders stay usable without it.",
        )


def _decode(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _migrate(db: Database, path: Path) -> None:
    known = migrations()
    names = {migration.name for migration in known.pending(db)}
    applied = {migration.name for migration in known.applied(db)}
    # sqlite-utils has no public list of all migrations of a set.
    ours = {migration.name for migration in known._migrations}
    if newer := applied - ours:
        raise StoreError(
            f"The run database {path} was written by a newer launchlens ({sorted(newer)[0]}).",
            hint="Update launchlens, or name another folder with --runs or LAUNCHLENS_RUNS.",
        )
    if names or missing_columns(db):
        with writing(db):  # what is pending or missing is looked up again under the lock
            known.apply(db)
            add_columns(db)
