"""Runs that are kept: a folder each, and a run database (sqlite-utils) that finds them again."""

from launchlens.store.folder import RunFolder, create_run
from launchlens.store.load import (
    list_runs,
    load_analysis,
    load_run,
    remove_run,
    resolve,
    resolve_run,
)
from launchlens.store.paths import RUNS_VARIABLE, runs_root
from launchlens.store.records import (
    RunRow,
    StoredRun,
    StoredTrace,
    StoredVariant,
)
from launchlens.store.trend import trend

__all__ = [
    "RUNS_VARIABLE",
    "RunFolder",
    "RunRow",
    "StoredRun",
    "StoredTrace",
    "StoredVariant",
    "create_run",
    "list_runs",
    "load_analysis",
    "load_run",
    "remove_run",
    "resolve",
    "resolve_run",
    "runs_root",
    "trend",
]
