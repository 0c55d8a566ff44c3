"""Tables of the run database and their migrations.

Plain tables with foreign keys and no blobs, so that Datasette or the sqlite3 shell can open the
file. Every table but ``runs`` hangs on a variant, and goes when its run goes. A migration that has
been released is never changed: a new column is a new migration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database, Migrations

MIGRATION_SET = "launchlens"

_RUNS = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    created TEXT NOT NULL,
    finished TEXT,
    status TEXT NOT NULL CHECK (status IN ('running', 'complete', 'incomplete', 'failed')),
    reason TEXT,
    model TEXT,
    config_digest TEXT,
    gpu TEXT,
    driver TEXT,
    cuda TEXT,
    torch TEXT,
    transformers TEXT,
    nsys TEXT,
    python TEXT,
    launchlens TEXT,
    git_commit TEXT,
    git_dirty INTEGER,
    arguments TEXT NOT NULL,
    folder TEXT NOT NULL
)"""

_VARIANTS = """
CREATE TABLE variants (
    id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    failure_type TEXT,
    failure_line TEXT,
    failure_source TEXT,
    failure_hint TEXT,
    failure_log TEXT,
    isl INTEGER,
    osl INTEGER,
    batch INTEGER,
    dtype TEXT,
    layers_note TEXT,
    command TEXT,
    captured_phases TEXT,
    untraced_ns INTEGER,
    peak_memory_bytes INTEGER,
    graph_memory_bytes INTEGER,
    capture_ns INTEGER,
    UNIQUE (run_id, name)
)"""

_TRACES = """
CREATE TABLE traces (
    variant_id TEXT NOT NULL REFERENCES variants(id) ON DELETE CASCADE,
    trace_kind TEXT NOT NULL,
    file TEXT NOT NULL,
    sha256 TEXT,
    nsys_version TEXT,
    export_schema TEXT,
    gpu TEXT,
    driver TEXT,
    graph_tracing TEXT,
    PRIMARY KEY (variant_id, trace_kind)
)"""

_STEPS = """
CREATE TABLE steps (
    variant_id TEXT NOT NULL REFERENCES variants(id) ON DELETE CASCADE,
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    variant TEXT NOT NULL,
    trace_kind TEXT NOT NULL,
    row INTEGER NOT NULL,
    "index" INTEGER NOT NULL,
    range TEXT NOT NULL,
    domain TEXT NOT NULL,
    engine TEXT NOT NULL,
    phase TEXT NOT NULL,
    pid INTEGER NOT NULL,
    tid INTEGER NOT NULL,
    device INTEGER,
    start_ns INTEGER NOT NULL,
    end_ns INTEGER NOT NULL,
    tokens INTEGER,
    kernel_launches INTEGER,
    graph_launches INTEGER,
    launches INTEGER,
    memcpy_calls INTEGER,
    memset_calls INTEGER,
    submissions INTEGER,
    sync_calls INTEGER,
    alloc_calls INTEGER,
    captured_calls INTEGER,
    kernels INTEGER,
    memcpys INTEGER,
    memsets INTEGER,
    graph_spans INTEGER,
    graph_tracing TEXT,
    hidden_graph_launches INTEGER,
    cpu_ns INTEGER NOT NULL,
    projected_ns INTEGER,
    window_ns INTEGER,
    busy_ns INTEGER,
    kernel_busy_ns INTEGER,
    idle REAL,
    idle_kernels_only REAL,
    idle_projected REAL,
    gap_lead_in_ns INTEGER,
    gap_host_ns INTEGER,
    gap_launch_ns INTEGER,
    gap_sync_ns INTEGER,
    gap_device_ns INTEGER,
    gap_tail_ns INTEGER,
    gap_unlinked_ns INTEGER,
    lead_in_ns INTEGER,
    tail_ns INTEGER,
    launch_cost_ns INTEGER,
    launch_cost_total_ns INTEGER,
    inter_launch_ns INTEGER,
    queue_ns INTEGER,
    tklqt_ns INTEGER,
    bound TEXT,
    unknown_reason TEXT,
    PRIMARY KEY (variant_id, trace_kind, row)
)"""

# Medians over steps as reports show them. trace_kind 'untraced' holds walls with no profiler.
_FIGURES = """
CREATE TABLE figures (
    variant_id TEXT NOT NULL REFERENCES variants(id) ON DELETE CASCADE,
    trace_kind TEXT NOT NULL,
    phase TEXT NOT NULL,
    rank INTEGER NOT NULL,
    metric TEXT NOT NULL,
    median REAL,
    p10 REAL,
    p90 REAL,
    p99 REAL,
    ci_low REAL,
    ci_high REAL,
    n INTEGER NOT NULL,
    unknown INTEGER NOT NULL,
    PRIMARY KEY (variant_id, trace_kind, phase, rank, metric)
)"""

_REQUESTS = """
CREATE TABLE requests (
    variant_id TEXT NOT NULL REFERENCES variants(id) ON DELETE CASCADE,
    isl INTEGER NOT NULL,
    osl INTEGER NOT NULL,
    concurrency INTEGER NOT NULL,
    ttft_ns INTEGER NOT NULL,
    itl_ns INTEGER,
    latency_ns INTEGER NOT NULL,
    requests_per_s REAL NOT NULL,
    tokens_per_s REAL NOT NULL,
    repetitions INTEGER NOT NULL,
    PRIMARY KEY (variant_id, isl, osl, concurrency)
)"""

_EQUIVALENCE = """
CREATE TABLE equivalence (
    variant_id TEXT NOT NULL REFERENCES variants(id) ON DELETE CASCADE,
    dtype TEXT NOT NULL,
    max_abs_diff REAL,
    identical INTEGER NOT NULL,
    finite INTEGER NOT NULL,
    top1_agreement REAL,
    PRIMARY KEY (variant_id, dtype)
)"""


def migrations() -> Migrations:
    """All migrations of the run database, in order."""
    from sqlite_utils import Migrations

    known = Migrations(MIGRATION_SET)
    known(name="m001_tables")(_create_tables)
    known(name="m002_indexes")(_create_indexes)
    known(name="m003_beside")(_add_beside)
    return known


def _create_tables(db: Database) -> None:
    for sql in (_RUNS, _VARIANTS, _TRACES, _STEPS, _FIGURES, _REQUESTS, _EQUIVALENCE):
        db.execute(sql)


def _add_beside(db: Database) -> None:
    db.execute("ALTER TABLE equivalence ADD COLUMN beside TEXT")


def _create_indexes(db: Database) -> None:
    db.execute("CREATE INDEX runs_created ON runs(created)")
    db.execute("CREATE INDEX steps_run ON steps(run_id)")
    db.execute("CREATE INDEX figures_metric ON figures(metric)")
