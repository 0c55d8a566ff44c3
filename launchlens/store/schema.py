"""Tables of the run database and their migrations.

Plain tables with foreign keys and no blobs, so that Datasette or the sqlite3 shell can open the
file. Every table but ``runs`` hangs on a variant, and goes when its run goes. Columns that are
fields of records (`record_columns`, every metric among them) are added wherever a table lacks them;
any other new column is a new migration. Times are integers in ns and end in ``_ns``, fractions lie
between 0 and 1, what is unknown is NULL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from launchlens.catalogue import metrics
from launchlens.store.columns import record_columns

if TYPE_CHECKING:
    from sqlite_utils import Database, Migrations

MIGRATION_SET = "launchlens"

_RUNS = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY, created TEXT NOT NULL, finished TEXT,
    status TEXT NOT NULL CHECK (status IN ('running', 'complete', 'incomplete', 'failed')),
    reason TEXT, model TEXT, config_digest TEXT, gpu TEXT, driver TEXT, cuda TEXT, torch TEXT,
    transformers TEXT, nsys TEXT, python TEXT, launchlens TEXT,
    git_commit TEXT, git_dirty INTEGER,
    arguments TEXT NOT NULL, folder TEXT NOT NULL
)"""

_VARIANTS = """
CREATE TABLE variants (
    id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    name TEXT NOT NULL, status TEXT NOT NULL,
    failure_type TEXT, failure_line TEXT, failure_source TEXT, failure_hint TEXT, failure_log TEXT,
    captured_phases TEXT, untraced_ns INTEGER,
    UNIQUE (run_id, name)
)"""

_TRACES = """
CREATE TABLE traces (
    variant_id TEXT NOT NULL REFERENCES variants(id) ON DELETE CASCADE,
    trace_kind TEXT NOT NULL, file TEXT NOT NULL, sha256 TEXT,
    nsys_version TEXT, export_schema TEXT, gpu TEXT, driver TEXT, graph_tracing TEXT,
    PRIMARY KEY (variant_id, trace_kind)
)"""

_STEPS = """
CREATE TABLE steps (
    variant_id TEXT NOT NULL REFERENCES variants(id) ON DELETE CASCADE,
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    variant TEXT NOT NULL, trace_kind TEXT NOT NULL, row INTEGER NOT NULL,
    PRIMARY KEY (variant_id, trace_kind, row)
)"""

# Medians over steps as reports show them. trace_kind 'untraced' holds walls with no profiler.
_FIGURES = """
CREATE TABLE figures (
    variant_id TEXT NOT NULL REFERENCES variants(id) ON DELETE CASCADE,
    trace_kind TEXT NOT NULL, phase TEXT NOT NULL, rank INTEGER NOT NULL, metric TEXT NOT NULL,
    median REAL, p10 REAL, p90 REAL, p99 REAL, ci_low REAL, ci_high REAL,
    n INTEGER NOT NULL, unknown INTEGER NOT NULL,
    PRIMARY KEY (variant_id, trace_kind, phase, rank, metric)
)"""

_REQUESTS = """
CREATE TABLE requests (
    variant_id TEXT NOT NULL REFERENCES variants(id) ON DELETE CASCADE,
    isl INTEGER NOT NULL, osl INTEGER NOT NULL, concurrency INTEGER NOT NULL,
    PRIMARY KEY (variant_id, isl, osl, concurrency)
)"""

_EQUIVALENCE = """
CREATE TABLE equivalence (
    variant_id TEXT NOT NULL REFERENCES variants(id) ON DELETE CASCADE,
    dtype TEXT NOT NULL,
    PRIMARY KEY (variant_id, dtype)
)"""


# What was forecast of a variant before it was measured; what it took is in figures, 'untraced'.
_FORECASTS = """
CREATE TABLE forecasts (
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    made_from TEXT NOT NULL, variant TEXT NOT NULL, phase TEXT NOT NULL,
    step_ns INTEGER NOT NULL, low_ns INTEGER NOT NULL, high_ns INTEGER NOT NULL,
    eager_ns INTEGER, costs TEXT,
    PRIMARY KEY (run_id, made_from, variant, phase)
)"""


def migrations() -> Migrations:
    """All migrations of the run database, in order."""
    from sqlite_utils import Migrations

    known = Migrations(MIGRATION_SET)
    known(name="m001_tables")(_create_tables)
    known(name="m002_indexes")(_create_indexes)
    known(name="m003_beside")(lambda _db: None)  # a column of `record_columns` today
    known(name="m004_bounds")(_add_bounds)
    known(name="m005_forecasts")(lambda db: db.execute(_FORECASTS))
    return known


def missing_columns(db: Database) -> list[tuple[str, str, str]]:
    """Columns of records that the tables lack: table, column, SQL type."""
    return [
        (table, name, sql_type)
        for table, columns in record_columns().items()
        for there in (db.table(table).columns_dict,)
        for name, sql_type in columns.items()
        if name not in there
    ]


def add_columns(db: Database) -> None:
    """Adds every column that `missing_columns` names; what is stored already has NULL there."""
    for table, name, sql_type in missing_columns(db):
        db.execute(f'ALTER TABLE {table} ADD COLUMN "{name}" {sql_type}')


def _create_tables(db: Database) -> None:
    for sql in (_RUNS, _VARIANTS, _TRACES, _STEPS, _FIGURES, _REQUESTS, _EQUIVALENCE):
        db.execute(sql)


def _create_indexes(db: Database) -> None:
    db.execute("CREATE INDEX runs_created ON runs(created)")
    db.execute("CREATE INDEX steps_run ON steps(run_id)")
    db.execute("CREATE INDEX figures_metric ON figures(metric)")


def _add_bounds(db: Database) -> None:
    """A column for which medians are only bounds; in older rows, those of graphs traced whole."""
    db.execute("ALTER TABLE figures ADD COLUMN bound TEXT")
    for metric in metrics():
        db.execute(
            "UPDATE figures SET bound = ? "
            "WHERE metric = ? AND trace_kind = 'graph' AND median IS NOT NULL",
            [metric.bound_under("graph"), metric.name],
        )
