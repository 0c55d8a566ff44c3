"""Runs that are kept: a folder each, and a run database (sqlite-utils) that finds them again."""

from launchlens.store.calibration import calibration_file, keep_calibration
from launchlens.store.find import list_runs, remove_run, resolve, resolve_run
from launchlens.store.folder import RunFolder, create_run
from launchlens.store.forecasts import read_outcomes
from launchlens.store.load import load_run
from launchlens.store.paths import RUNS_VARIABLE, runs_root
from launchlens.store.trend import trend

__all__ = [
    "RUNS_VARIABLE",
    "RunFolder",
    "calibration_file",
    "create_run",
    "keep_calibration",
    "list_runs",
    "load_run",
    "read_outcomes",
    "remove_run",
    "resolve",
    "resolve_run",
    "runs_root",
    "trend",
]
