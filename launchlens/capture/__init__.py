"""Finds, runs and exports nsys, and checks the machine. Almost alone in starting processes."""

from launchlens.capture.command import Tracing
from launchlens.capture.doctor import check_environment
from launchlens.capture.environment import cpu_name, git_state, gpu_facts
from launchlens.capture.export import export_sqlite
from launchlens.capture.find import Nsys, find_nsys
from launchlens.capture.logs import describe_exit, last_line
from launchlens.capture.process import ChildTimeoutError
from launchlens.capture.run import record, run_plain

__all__ = [
    "ChildTimeoutError",
    "Nsys",
    "Tracing",
    "check_environment",
    "cpu_name",
    "describe_exit",
    "export_sqlite",
    "find_nsys",
    "git_state",
    "gpu_facts",
    "last_line",
    "record",
    "run_plain",
]
